// Plain JavaScript that any Node can read: the sources are TypeScript, which an older Node refuses
// with a message about file extensions. Loaded with --import, so it speaks first.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(
    `This program needs Node 24 or newer; this is Node ${process.versions.node}.\n` +
      'Install Node 24, or run `npm ci` (on Linux x64 it brings Node 24 along) and start with `npm start`.\n',
  );
  process.exit(1);
}
