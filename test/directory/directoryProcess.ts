import { createServer } from 'node:http';

/**
 * A company's number directory in a process of its own: `POST {phoneNumber}` → `{operator}`, by the number's
 * last digit. Started with `node test/directory/directoryProcess.ts PORT`; tells its port in one line.
 */
const [port = '0'] = process.argv.slice(2);

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    const { phoneNumber } = JSON.parse(body) as { phoneNumber: string };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ operator: phoneNumber.endsWith('1') ? 'gaining' : 'losing' }));
  });
});
server.listen(Number(port), '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
