/** How an email app changes the colors of emails in dark mode. */
export type Inversion = 'light' | 'all';

/** More elements than any email has. In larger ones nothing is changed, so that the page doesn't hang. */
const maxElements = 20_000;

const white: Color = { text: 'rgb(255, 255, 255)', isLight: true, isVisible: true };

const sides = ['top', 'right', 'bottom', 'left'] as const;

interface Color {
  readonly text: string;
  readonly isLight: boolean;
  readonly isVisible: boolean;
}

/**
 * Changes the colors of an email as apps do that force dark mode on it. Like theirs, it turns the lightness around and keeps the
 * hue; images stay.
 * @param inversion `light`: only light backgrounds and dark texts; `all`: every background and text, so dark ones become light
 */
export function invertColors(mail: Document, inversion: Inversion): void {
  const elements = [mail.documentElement, ...mail.documentElement.querySelectorAll('*')];
  if (elements.length > maxElements) return;
  const backgrounds = new Map<Element, Color>();
  const changes: (() => void)[] = [];
  for (const element of elements) {
    if (!(element instanceof HTMLElement) || element.matches('head, head *')) continue;
    const style = getComputedStyle(element);
    const own = readColor(style.backgroundColor);
    const behind = backgroundBehind(element, backgrounds);
    const background = own.isVisible ? own : behind;
    backgrounds.set(element, background);
    const set = (name: string, color: string) =>
      changes.push(() => element.style.setProperty(name, inverted(color), 'important'));
    const isChanged = (color: Color) => inversion === 'all' || color.isLight;
    if (own.isVisible && isChanged(own)) set('background-color', own.text);
    const text = readColor(style.color);
    if (inversion === 'all' || (background.isLight && !text.isLight)) set('color', text.text);
    else changes.push(() => element.style.setProperty('color', text.text, 'important'));
    for (const side of sides) {
      const name = `border-${side}-color`;
      const isDrawn = style.getPropertyValue(`border-${side}-style`) !== 'none';
      if (isDrawn && isChanged(behind)) set(name, style.getPropertyValue(name));
    }
  }
  // Only now, so that no change is read as a color of the email.
  for (const change of changes) change();
  const root = backgrounds.get(mail.documentElement);
  if (root === white) mail.documentElement.style.backgroundColor = inverted(white.text);
}

function backgroundBehind(element: Element, backgrounds: ReadonlyMap<Element, Color>): Color {
  const { parentElement } = element;
  return (parentElement && backgrounds.get(parentElement)) ?? white;
}

/** White becomes almost black, as the apps' own background is. */
function inverted(color: string): string {
  return `lab(from ${color} calc(100 - 0.89 * l) a b / alpha)`;
}

/** Reads a computed color; those in other color spaces count as light. */
function readColor(text: string): Color {
  const [red = 255, green = 255, blue = 255, alpha = 1] = (
    /^rgba?\(([^)]*)\)$/.exec(text)?.[1] ?? ''
  )
    .split(/[\s,/]+/)
    .filter((part) => part !== '')
    .map(Number);
  const brightness = (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
  return { text, isLight: brightness > 0.5, isVisible: alpha > 0 };
}
