/** The pages as a member reads them: texts, amounts and dates, never the product's own values. */

const unescaped = (text: string) =>
  text
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');

export const wordsOf = (html: string): string =>
  unescaped(
    html
      .replaceAll(/<(script|svg)\b.*?<\/\1>/gs, '')
      .replaceAll(/<br\/?>/g, ' · ')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );

export const mainOf = (html: string): string => /<main.*<\/main>/s.exec(html)?.[0] ?? html;

export const money = '[−-]?[$€][\\d,]+(?:\\.\\d+)?';
export const date = '[A-Z][a-z]+ \\d{1,2}, \\d{4}';

/** `$1,234.50` in cents. */
export function toCents(text: string): number {
  const digits = text.replaceAll(/[^\d.]/g, '');
  const cents = Math.round(Number(digits) * 100);
  return /[−-]/.test(text) ? -cents : cents;
}

/** `November 22, 2027` as 2027-11-22. */
export const toDay = (text: string): string => new Date(`${text} 00:00 UTC`).toISOString().slice(0, 10);

export const findMoney = (text = '') => {
  const [found] = new RegExp(money).exec(text) ?? [];
  return found === undefined ? undefined : toCents(found);
};
export const findDay = (text: string | undefined) => {
  const [found] = new RegExp(date).exec(text ?? '') ?? [];
  return found === undefined ? undefined : toDay(found);
};

/** The next charge as a page or a mail announces it; what it does not say is undefined. */
export type NextCharge =
  | {
      kind: 'charge';
      day?: string | undefined;
      cents?: number | undefined;
      /** Another amount from a day on: a discount has ended then. */
      regular?: { from: string; cents: number; afterCents?: number | undefined } | undefined;
      /** The amount of the charges after it: a debt is paid with it. */
      afterCents?: number | undefined;
      /** The part that the member's credit pays, besides `cents`. */
      creditCents?: number | undefined;
      /** Too small to be charged: it is owed with the charge after it. */
      smallCents?: number | undefined;
      /** What is due each time after it; amounts below `least` are added to the next payment. */
      each?: { cents: number; least: number } | undefined;
      /** The plan that begins with it. */
      planName?: string | undefined;
    }
  | { kind: 'none' };

type Charging = Extract<NextCharge, { kind: 'charge' }>;

export const listFacts = (html: string): { label: string; value: string }[] =>
  [...html.matchAll(/<dt[^>]*>(.*?)<\/dt>\s*<dd[^>]*>(.*?)<\/dd>/gs)].map(([, label = '', value = '']) => ({
    // A row may hold a form.
    label: wordsOf(label.replaceAll(/<form .*?<\/form>/gs, '')),
    value: wordsOf(value),
  }));

/** What is said besides the amount: the end of a discount, and the part that the credit pays. */
export function readRest(
  text: string,
): Pick<Charging, 'regular' | 'creditCents' | 'smallCents' | 'afterCents' | 'each'> {
  const end = new RegExp(
    `discount ends on (${date}); (?:after that, )?(${money}) is charged(?: (?:then|on ${date}), and (${money}))?`,
  );
  const [, from, regular, later] = end.exec(text) ?? [];
  const [, due, least] =
    new RegExp(`After that, (${money}) is due each time. Amounts below (${money})`).exec(text) ?? [];
  const find = (pattern: string) => findMoney(new RegExp(pattern).exec(text)?.[1]);
  return {
    ...(from && regular && { regular: { from: toDay(from), cents: toCents(regular), afterCents: findMoney(later) } }),
    ...(due && least && { each: { cents: toCents(due), least: toCents(least) } }),
    smallCents: find(`Another (${money}) is too small to be charged`),
    creditCents: find(`Another (${money}) is paid from your credit`),
    afterCents: find(`[.\\d] After that, (${money}) is charged`),
  };
}

/** The sentence about later charges, on the pages of a purchase. */
export function readNextCharge(text: string): NextCharge | undefined {
  const renews = new RegExp(`[Rr]enews on (${date}) at (${money})`).exec(text);
  const keeps = `Until ${date} you keep [^.]+\\. Then ([^,.]+)`;
  const later = new RegExp(`(?=Until (${date}))(?=.*? and (${money}))${keeps} begins`).exec(text);
  // The row names the plan and the day, and the sentence below it says that the present one stays until then.
  const begins = new RegExp(
    `${money} (?<name>[^,$€]+), [^$€]*?from (?<day>${date}) (?<amount>${money}) .*?Until then you keep`,
  ).exec(text)?.groups;
  const row = new RegExp(`First payment on (${date}) (${money})`).exec(text);
  const first = new RegExp(`first payment of (${money}) is on (${date})`).exec(text);
  const day = renews?.[1] ?? begins?.day ?? later?.[1] ?? row?.[1] ?? first?.[2];
  const amount = renews?.[2] ?? begins?.amount ?? later?.[2] ?? row?.[2] ?? first?.[1];
  const planName = begins?.name ?? later?.[3];
  if (day === undefined || amount === undefined) return undefined;
  return {
    kind: 'charge',
    day: toDay(day),
    cents: toCents(amount),
    ...readRest(text),
    ...(planName && { planName }),
  };
}

/** The end of each pause that a page offers, by its months, with the charge at that time. */
export function readResumptions(html: string): Map<number, NextCharge> {
  const offers = [
    ...wordsOf(mainOf(html)).matchAll(new RegExp(`(\\d+) months? On (${date}) it resumes, and (${money})`, 'g')),
  ];
  return new Map(
    offers.map(([text, months, day = '', amount = '']) => [
      Number(months),
      { kind: 'charge', day: toDay(day), cents: toCents(amount), ...readRest(text) },
    ]),
  );
}

export interface Form {
  action: string;
  fields: Record<string, string>;
}

/** The request that a plan begins at once, ticked. */
const tickedBox = (html: string): Record<string, string> =>
  /<input [^>]*name="beginsAtOnce"/.test(html) ? { beginsAtOnce: '1' } : {};

/** What a withdrawal keeps for the days until it, as its page names it; undefined: it names none. */
export function readKeptDays(
  text: string,
): { backCents: number; keptCents: number; used: number; total: number } | undefined {
  const [, kept, used, total] = /We keep (\S+) for (\d+) of (\d+) days/.exec(text) ?? [];
  const back = /We give (\S+) back/.exec(text)?.[1];
  const credit = /(\S+) that was paid from your credit/.exec(text)?.[1];
  const cents = (amount: string | undefined) => (amount === undefined ? 0 : (findMoney(amount) ?? 0));
  if (kept === undefined) return undefined;
  const backCents = cents(back) + cents(credit);
  return { backCents, keptCents: cents(kept), used: Number(used), total: Number(total) };
}

/** The forms of a page, with their hidden fields and the box of an order. */
export const listForms = (html: string): Form[] =>
  [...html.matchAll(/<form [^>]*?action="([^"]*)"[^>]*>(.*?)<\/form>/gs)].map(([, action = '', content = '']) => ({
    action: unescaped(action),
    fields: {
      ...Object.fromEntries(
        [...content.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)].map(
          ([, name = '', value = '']) => [name, unescaped(value)],
        ),
      ),
      ...tickedBox(content),
    },
  }));

export interface Announcement {
  planId: string;
  dueCents: number;
  /** With signs, as they stand there. */
  lines: { label: string; cents: number }[];
  next: NextCharge | undefined;
  /** The number in the field of the page; 1: it has none. */
  seats: number;
  /** Free days with which it begins. */
  trialDays: number | undefined;
  form: Form;
}

/** The summary of a purchase; undefined: it offers nothing to confirm. */
export function readAnnouncement(html: string): Announcement | undefined {
  const form = listForms(html).find(({ fields }) => fields.dueCents !== undefined && fields.act === undefined);
  const amounts = listFacts(html).flatMap(({ label, value }) => {
    const cents = findMoney(value);
    return cents === undefined ? [] : [{ label, cents }];
  });
  const total = amounts.findLast(({ label }) => /^Due today/.test(label));
  if (!form || !total) return undefined;
  const words = wordsOf(mainOf(html));
  const days = /(\d+) days? free, then/.exec(words)?.[1];
  return {
    planId: form.fields.planId ?? '',
    dueCents: total.cents,
    lines: amounts.filter((line) => line !== total),
    next: readNextCharge(words),
    trialDays: days === undefined ? undefined : Number(days),
    seats: Number(/<input(?=[^>]* name="seats")[^>]* value="(\d+)"/.exec(html)?.[1] ?? 1),
    form,
  };
}

export interface MailFacts {
  subject: string;
  facts: Record<string, string>;
}

/** The labelled lines of a mail. */
export const readMail = ({ subject, text }: { subject: string; text: string }): MailFacts => ({
  subject,
  facts: Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, label, value] = /^([A-Z][\w ]+): (.+)$/.exec(line) ?? [];
      return label !== undefined && value !== undefined ? [[label, value]] : [];
    }),
  ),
});
