const { node } = process.versions;

// The first import of each entry of the package: on an older Node another import would fail without naming the reason.
const [major = 0, minor = 0] = node.split('.').map(Number);
if (!(major >= 26 || (major === 24 && minor >= 21))) {
  const error = new Error(
    `sim-swap-subgraph needs Node 24.21 or newer, or 26; this is Node ${node}.`,
  );
  error.stack = error.message;
  throw error;
}
