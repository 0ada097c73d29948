/** A source within the limits of size that takes a compiler as long as it is given. */
export const slowSource = {
  subject: 'Subject',
  html: `<style>${Array.from({ length: 8_000 }, (_, at) => `.a${at} p b{color:red}`).join('')}</style>${'<p class="a">x</p>'.repeat(15_000)}`,
} as const;
