const { node } = process.versions;

// The first import of an entry of the package. On an older Node another import would fail, and say nothing of Node.
if (Number(node.split('.')[0]) < 24) {
  const error = new Error(`sim-swap-subgraph needs Node 24 or newer; this is Node ${node}.`);
  error.stack = error.message;
  throw error;
}
