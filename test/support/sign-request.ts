import { createHmac, hash } from 'node:crypto';

interface RequestToSign {
  readonly method: string;
  /** With the host. */
  readonly url: string;
  readonly body: string | Buffer;
}

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The header fields of Signature Version 4 for a request whose path and query need no normalization. */
export function signRequest(
  { method, url, body }: RequestToSign,
  { accessKeyId, secretAccessKey }: Credentials,
): Record<string, string> {
  const { host, pathname, search } = new URL(url);
  const date = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const scope = [date.slice(0, 8), 'eu-central-1', 'ses', 'aws4_request'];
  const bodyHash = hash('sha256', body);
  const fields = { host, 'x-amz-content-sha256': bodyHash, 'x-amz-date': date };
  const names = Object.keys(fields).join(';');
  const head = Object.entries(fields).map(([name, value]) => `${name}:${value}\n`);
  const path = pathname.split('/').map(encodeURIComponent).join('/');
  const canonical = [method, path, search.slice(1), head.join(''), names, bodyHash].join('\n');
  const text = ['AWS4-HMAC-SHA256', date, scope.join('/'), hash('sha256', canonical)].join('\n');
  const sign = (key: string | Buffer, part: string) =>
    createHmac('sha256', key).update(part).digest();
  const key = scope.reduce<string | Buffer>(sign, `AWS4${secretAccessKey}`);
  const credential = `Credential=${accessKeyId}/${scope.join('/')}`;
  const signature = sign(key, text).toString('hex');
  return {
    ...fields,
    authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`,
  };
}
