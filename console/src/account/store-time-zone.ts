/**
 * Tells pages without a script the time zone of this browser (`src/http/browser-time-zone.ts`). Best effort: they show UTC
 * otherwise.
 */
export function storeTimeZone(): void {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  // biome-ignore lint/suspicious/noDocumentCookie: Firefox has no Cookie Store API
  document.cookie = `signalpost_zone=${timeZone}; path=/; max-age=31536000; samesite=lax`;
}
