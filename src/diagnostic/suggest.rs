//! "Did you mean": the closest of a list of words.

/// The candidate closest to `word`, if it is close enough to be a slip of the pen: the same but for case, `_` and `-`,
/// or at most a third of its letters changed, left out, added or swapped.
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = fold(word);
    candidates
        .into_iter()
        .map(|candidate| (distance(&folded, &fold(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count().max(3) / 3 && *candidate != word)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn fold(word: &str) -> Vec<char> {
    // A hostile file may hold a "name" of a megabyte; the distance below is quadratic.
    word.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).take(80).collect()
}

/// Edits between two words, a swap of neighbours counting as one.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut cost = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn finds_slips_and_leaves_strangers_alone() {
        let keys = ["tableName", "columns", "indices", "foreignKeys", "nullable"];
        assert_eq!(closest("table_name", keys), Some("tableName"));
        assert_eq!(closest("nullabel", keys), Some("nullable"));
        assert_eq!(closest("indexes", keys), Some("indices"));
        assert_eq!(closest("colour", keys), None);
        assert_eq!(closest("", keys), None);
        assert_eq!(closest(&"x".repeat(1_000_000), keys), None);
    }
}
