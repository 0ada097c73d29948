const STYLE = /<style\b/i;

/**
 * Copies the rules of `<style>` elements into `style` attributes, because many mail clients support nothing else.
 * Rules that can't be inlined (media queries, `:hover`, fonts) stay in the head. Linked style sheets are not loaded.
 */
export async function inlineCss(html: string): Promise<string> {
  if (!STYLE.test(html)) return html;
  const { default: juice } = await import('juice');
  return juice(html, {
    preserveMediaQueries: true,
    preserveFontFaces: true,
    preserveKeyFrames: true,
    preservePseudos: true,
    preserveImportant: true,
    applyWidthAttributes: false,
    applyHeightAttributes: false,
  });
}
