import { auditTexts } from '../texts/en/audit.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: auditTexts });
