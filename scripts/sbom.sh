#!/usr/bin/env bash
# `npm run sbom`: what is shipped, as a CycloneDX SBOM in sbom/. `npm sbom --omit dev` leaves out what production has in
# common with development, graphql among it: so the packages of production are installed by themselves.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p sbom
bill=$PWD/sbom/sbom.cdx.json
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp package.json package-lock.json .npmrc "$copy"
cd "$copy"
npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
# What is named and not installed would be a problem to npm.
npm pkg delete devDependencies optionalDependencies
npm sbom --sbom-format=cyclonedx --sbom-type=application >"$bill"
