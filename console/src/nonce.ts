const element = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]');

/** What <style> elements of this page must carry. The attribute is hidden from styles, the property is not. */
export const nonce = element?.nonce ?? '';

// Where the library that stops the page behind a dialog from scrolling looks for it.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
