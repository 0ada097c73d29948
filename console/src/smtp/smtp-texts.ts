import { smtpTexts } from '../texts/en/smtp.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: smtpTexts });
