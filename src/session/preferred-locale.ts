import type { FastifyRequest } from 'fastify';
import { isLocale, type Locale } from '../outbox/system-mail.ts';

/** Longer headers are ignored. */
const maxHeaderLength = 500;

/** The first supported language that a browser asks for (RFC 9110 section 12.5.4); English by default. */
export function preferredLocale(request: Pick<FastifyRequest, 'headers'>): Locale {
  const header = (request.headers['accept-language'] ?? '').slice(0, maxHeaderLength);
  const preferences = header
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(';');
      const weight = parameters.find((parameter) => parameter.trim().startsWith('q='));
      const quality = weight === undefined ? 1 : Number(weight.trim().slice(2));
      return { locale: tag.trim().toLowerCase().split('-')[0], quality };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  for (const { locale } of preferences) if (isLocale(locale)) return locale;
  return 'en';
}
