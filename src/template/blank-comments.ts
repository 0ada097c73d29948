/** Replaces the comments of the markup with spaces; offsets and line breaks don't change. */
export function blankComments(source: string): string {
  let out = '';
  let from = 0;
  for (let start = source.indexOf('<!--'); start !== -1; start = source.indexOf('<!--', from)) {
    const end = source.indexOf('-->', start);
    if (end === -1) break;
    out += source.slice(from, start) + source.slice(start, end + 3).replace(/[^\n]/g, ' ');
    from = end + 3;
  }
  return out + source.slice(from);
}
