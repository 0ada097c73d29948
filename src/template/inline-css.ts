const STYLE = /<style\b/i;

/**
 * Writes the rules of `<style>` elements into `style` attributes, as many mail clients know only
 * these; what cannot stand there (media queries, `:hover`, fonts) stays in the head. Nothing is
 * loaded: linked style sheets stay as they are.
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
