/** A template that takes minutes to compile: it is within the size limits, and the libraries check every rule against every element. */
export const endless = {
  subject: 'Subject',
  html: `<style>${Array.from({ length: 8_000 }, (_, at) => `.a${at} p b{color:red}`).join('')}</style>${'<p class="a">x</p>'.repeat(15_000)}`,
};
