/** Most characters of an answer. */
const longest = 100_000;

/**
 * Fetches a text from a fixed, trusted address, such as Amazon's certificates.
 * @throws where the answer is not 200 or does not come in time
 */
export async function fetchText(url: string): Promise<string> {
  const answer = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(5_000) });
  if (answer.status !== 200) throw new Error(`${new URL(url).hostname} answered ${answer.status}`);
  return (await answer.text()).slice(0, longest);
}
