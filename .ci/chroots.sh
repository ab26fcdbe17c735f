# Debians of their own, in chroots that stay in build/debian/NAME: bookworm, trixie, bookworm-arm64, whose tools run here and whose libraries
# are 64-bit Arm's, or bookworm-base, into which nothing is installed. As root, since a chroot is.
mirror=${DEBIAN_MIRROR:-}  # empty: the one that debootstrap has for Debian

chroot_of() {  # NAME: makes it, where it is not there
  local root=build/debian/$1
  [ ! -e "$root/.made" ] || return 0
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include=ca-certificates "${1%-*}" "$root" ${mirror:+"$mirror"} && trust "$root" && touch "$root/.made"
}

trust() {  # ROOT: the authorities that this machine trusts besides Debian's, such as that of a proxy
  cp /usr/local/share/ca-certificates/*.crt "$1/usr/local/share/ca-certificates/" 2>/dev/null || return 0
  chroot "$1" update-ca-certificates
}

in_chroot() {  # NAME COMMAND…: with /proc, and as in this tree
  local root=build/debian/$1
  shift
  cp /etc/resolv.conf "$root/etc/"
  unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" sh -c "cd /src && exec \"\$@\"" sh "$@"' "$root" "$@"
}

copy() {  # NAME: what git knows of this tree. What differs gets the present time, so that no object is younger than its source
  mkdir -p "build/debian/$1/src"
  git ls-files --cached --others --exclude-standard -z |
    rsync --from0 --files-from - --checksum --links --perms . "build/debian/$1/src"
}

install() {
  case $1 in
    *-arm64) in_chroot "$1" sh -c "$install_for_arm64" ;;
    *) in_chroot "$1" .ci/install build unit ;;
  esac
}

# Tools run here, libraries are Arm's; a package for all architectures is the same for both.
install_for_arm64='set -eu
export DEBIAN_FRONTEND=noninteractive
dpkg --add-architecture arm64
apt-get update
packages="qemu-user-static"
while read -r name purpose _; do
  case $purpose in build | unit) ;; *) continue ;; esac
  case $name in
    g++) name=g++-aarch64-linux-gnu ;;
    cmake | ninja-build | ccache | python3) ;;
    *) apt-cache show "$name" | grep -qx "Architecture: all" || name=$name:arm64 ;;
  esac
  packages="$packages $name"
done < .ci/packages
apt-get install -y --no-install-recommends $packages'
