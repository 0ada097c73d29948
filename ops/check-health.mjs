// The health check of the container: succeeds if the service in it is ready. Uses the settings of the service.
import { get as getHttp } from 'node:http';
import { get as getHttps } from 'node:https';
import process from 'node:process';

const { PORT = '3000', TLS_CERT } = process.env;
const get = TLS_CERT ? getHttps : getHttp;
// The certificate is for the public name; nothing secret is sent.
const options = { host: '127.0.0.1', port: PORT, path: '/readyz', rejectUnauthorized: false };

get(options, (response) => {
  response.resume();
  process.exitCode = response.statusCode === 200 ? 0 : 1;
}).on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
