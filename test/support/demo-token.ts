import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';

/** An access token of the demo's owner, with the password that the first start wrote into the data folder. */
export async function getDemoToken(url: string, dataDir: string): Promise<string> {
  const text = readFileSync(join(dataDir, 'demo.env'), 'utf8').replaceAll('export ', '');
  const secrets = parseEnv(text);
  const response = await fetch(`${url}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'password',
      username: secrets.DEMO_OWNER_EMAIL ?? '',
      password: secrets.DEMO_OWNER_PASSWORD ?? '',
      client_id: 'demo',
      client_secret: secrets.DEMO_CLIENT_SECRET ?? '',
    }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}
