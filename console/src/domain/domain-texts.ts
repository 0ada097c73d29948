import { domainsTexts } from '../texts/en/domains.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: domainsTexts });
