const element = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]');

/** The CSP nonce for <style> elements. Read from the property, because browsers hide the attribute. */
export const nonce = element?.nonce ?? '';

// Read by the library that locks scrolling behind dialogs.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
