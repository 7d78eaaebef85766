#!/usr/bin/env bash
# Installs a kubectl that has Kustomize 5, to build the overlays of deploy/kubernetes in tests: Debian has it from
# trixie on, so an older Debian takes that one package from there.
set -euo pipefail
kubectl kustomize --help >/dev/null 2>&1 && exit
apt-get install -y --no-install-recommends kubectl >/dev/null 2>&1 && kubectl kustomize --help >/dev/null 2>&1 && exit
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder"/{parts,lists/partial,cache/archives/partial}
sed -nE 's/^(URIs|Types|Components|Signed-By):.*/&/p; s/^Suites:.*/Suites: trixie/p; /^$/q' \
  /etc/apt/sources.list.d/debian.sources >"$folder/parts/trixie.sources"
options=(-o "Dir::Etc::sourcelist=$folder/none" -o "Dir::Etc::sourceparts=$folder/parts"
  -o "Dir::State::lists=$folder/lists" -o "Dir::State::status=/dev/null" -o "Dir::Cache=$folder/cache"
  -o APT::Sandbox::User=root)
cd "$folder"
apt-get "${options[@]}" update >/dev/null
apt-get "${options[@]}" download kubectl/trixie >/dev/null
dpkg -x kubectl_*.deb unpacked
install unpacked/usr/bin/kubectl /usr/local/bin/kubectl
kubectl version --client
