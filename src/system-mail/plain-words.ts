import { isIP } from 'node:net';

const maxLength = 80;
/** An address of which mail programs make nothing but a link that writes to it. */
const simpleAddress = /^[\w.+-]+@[A-Za-z0-9.-]+$/;
/** Characters that can begin or continue a link if something follows them at once, and what browsers read as dots. */
const linking = /[.:。．｡․](?=\S)/g;

/**
 * What other people wrote, such as a name, as words of which no mail program makes a link: a mail of the service must lead nowhere
 * else. Addresses and IP addresses stay whole.
 */
export function plainWords(text: string): string {
  if (isIP(text) !== 0 || (text.length <= 254 && simpleAddress.test(text))) return text;
  // Invisible characters could hide a dot from the rule, or turn text around.
  const visible = text
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim();
  const letters = [...visible];
  const short =
    letters.length > maxLength ? `${letters.slice(0, maxLength).join('').trimEnd()}…` : visible;
  return short.replaceAll(linking, '[$&]');
}
