const schemes = ['http:', 'https:', 'mailto:', 'tel:'];

/** Whether a link names its target in full, and the target is a page, an email address or a phone number. */
export function isSafeLink(href: string): boolean {
  return schemes.includes(URL.parse(href)?.protocol ?? '');
}
