import { Agent, request } from 'node:http';
import { letterValues } from './letter.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** Asks the service for one letter over a connection that is kept; resolves with its 200. */
export function sendSingle(
  url: string,
  accountId: string,
  token: string,
  toAddress: string,
): Promise<void> {
  const body = JSON.stringify({
    envelope: { toAddress },
    content: { personalizationDataMap: letterValues(1) },
    metadata: { transactional: true },
    actions: { trackOpens: false, trackClicks: false },
  });
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/ete/v1/email/${accountId}/t-0001`, {
      method: 'POST',
      agent,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    asked.once('error', reject);
    asked.once('response', (response) => {
      response.resume();
      if (response.statusCode === 200) response.once('end', resolve);
      else reject(new Error(`a single message was answered ${response.statusCode}`));
    });
    asked.end(body);
  });
}
