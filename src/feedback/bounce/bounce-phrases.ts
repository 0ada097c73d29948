import type { PermanentCause } from '../../delivery/reply-rules.ts';

/** Phrases of programs that send no status and of servers that reply in other languages; the first match wins. */
export const bouncePhrases: readonly { readonly cause: PermanentCause; readonly text: RegExp }[] = [
  // A program on the receiver's side failed; what it says about users isn't about the recipient.
  { cause: 'other', text: /\bcommand (died|output)|can.?t create|couldn.?t create|procmail:/i },
  {
    cause: 'mailbox-full',
    text: /(mailbox|account|inbox|postfach|quota)[^.\n]{0,60}(full|exceed|überfüllt|voll)|over (its |the )?(disk )?quota|not enough (disk )?space|bo[iî]te[^.\n]{0,40}(pleine|saturée)|переполнен|邮箱(空间)?已满|容量|メールボックス[^。\n]{0,30}(いっぱい|容量)/i,
  },
  {
    cause: 'content',
    text: /\bspam\b|virus|junk mail|unsolicited|спам|垃圾邮件|反垃圾/i,
  },
  {
    cause: 'mailbox-disabled',
    text: /(account|mailbox|user)[^.\n]{0,40}(disabled|inactive|suspended|closed|deaktiviert|gesperrt)|заблокирован|отключ[её]н|désactivée?/i,
  },
  {
    cause: 'no-domain',
    text: /InfoDomainNonexistent|(host|domain)( name)?(?:[^.\n]|\.\b){0,80}(not found|unknown|does not exist|could not be found|couldn.t be found)|unrouteable (mail )?(domain|address)|no such (domain|host)|no mx record|#5\.4\.4\b|name service error[^\n]{0,120}host not found|unable to resolve|CNAME lookup failed|sorry, i couldn.t find any host|domaine (inconnu|inexistant)|домен не (найден|существует)/i,
  },
  {
    cause: 'no-mailbox',
    text: /no such (user|mailbox|recipient|address|person)|recipient name is not recognized|invalid final delivery userid|(user|recipient|mailbox|address|account)(?:[^.\n]|\.\b){0,80}(unknown|not (be )?found|not exist|invalid|doesn.t exist|not listed|not valid|is not a|unavailable)|unknown (user|recipient|mailbox|local)|not listed in|no mailbox here|does not have an? [^.\n]{0,30} account|empfänger[^.\n]{0,40}(unbekannt|existiert|nicht gefunden)|nicht bekannt|adresse[^.\n]{0,40}(inconnue|n.existe|introuvable|invalide)|utilisateur inconnu|destinataire inconnu|пользовател[ья] не (найден|существует)|не существует|无此用户|(?<!可能)不存在|收件人[^。\n]{0,20}(不存在|无效)|あて先|宛先[^。\n]{0,30}(不明|見つかり|存在しません)|usuario (desconocido|no existe)|destinatario (desconocido|sconosciuto)|utente sconosciuto|onbekende gebruiker|usuário desconhecido/i,
  },
  {
    cause: 'size',
    text: /(message|mail)[^.\n]{0,40}(too (big|large)|exceeds)|message size exceeded|size limit|zu groß|trop volumineux/i,
  },
  {
    cause: 'loop',
    text: /too many hops|mail loop|hop count|looping/i,
  },
];

/** What isn't about the mailbox, although some servers say so with its status. */
export const otherThanMailbox: readonly {
  readonly cause: PermanentCause;
  readonly text: RegExp;
}[] = [
  ...bouncePhrases.filter(({ cause }) => cause === 'size'),
  { cause: 'other', text: /gr[ea]y-?list/i },
];
