/** Labels of letters, digits and hyphens with dots between them (RFC 1123 section 2.1), at least two. */
const pattern = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/i;

/** Whether a text is a valid domain name, after conversion to ASCII by the browser. */
export function isDomainName(text: string): boolean {
  return pattern.test(URL.parse(`http://${text}`)?.hostname ?? '') && !/[/:@?#\s]/.test(text);
}
