import type { Language } from '../../server/http/index.ts';

/** A rule of the style sheet for the texts of pages and messages (docs/style.md). */
export interface TextRule {
  name: string;
  /** Without it the rule is for all languages. */
  lang?: Language;
  /** What breaks the rule; its first group, if it has one, is what is reported. */
  pattern: RegExp;
  /** Keys whose text the specification or the standard quotes like this. */
  except?: RegExp;
  /** The rule is for keys like these alone. */
  only?: RegExp;
  /** One text for each kind of fault that the rule finds. */
  faults: readonly string[];
}

const word = (words: string) => new RegExp(`(?<![\\p{L}\u2011-])(?:${words})(?![\\p{L}])`, 'giu');
/** The same, with the letter case of the words. */
const exactWord = (words: string) => new RegExp(`(?<![\\p{L}\u2011-])(?:${words})(?![\\p{L}])`, 'gu');

/** Texts that the specification quotes with an exclamation mark (decision 28). */
const exclaimed =
  /^(?:checkout\.unavailable\.|errors\.internal\.title$|parts\.messages\.success|password\.request\.(?:remembered|empty|confirmed)|password\.reset\.(?:resent|codeEmpty|passwordEmpty|confirmEmpty|inconsistent)|payment\.errors\.failed$|signUp\.code\.resent$|signUp\.confirmed\.text$)/;
/** The developers' pages, which name tokens and clients. */
const sandboxKeys = /^(?:sandbox|parts)\./;
const coupons = /^checkout\.promo\.(?:applied|second)$/;

/** Names that keep their capital within a sentence: of companies, formats, places, documents, and of the product's own pages and buttons. */
const names: Record<'en' | 'fr' | 'nl', string> = {
  en: 'Stripe|Google|Facebook|Amazon|JavaScript|WebP|Terms|Service|Membership|Settings|Connected|Continue|Refuse|Disable|United|Kingdom|Switzerland|Norway|Utrecht',
  fr: 'Stripe|Google|Facebook|Amazon|JavaScript|WebP|Continuer|Refuser|Désactiver|Royaume-Uni|Suisse|Norvège|Utrecht',
  nl: 'Stripe|Google|Facebook|Amazon|JavaScript|WebP|Verder|Weigeren|Uitschakelen|Verenigd|Koninkrijk|Zwitserland|Noorwegen|Utrecht',
};
const sentenceCase = (lang: 'en' | 'fr' | 'nl', faults: readonly string[]): TextRule => ({
  name: 'capitals only at the beginning of a sentence and in names',
  lang,
  pattern: new RegExp(`(?<=[\\p{L}\\d,;}] )(?!(?:${names[lang]})(?![\\p{L}]))\\p{Lu}\\p{Ll}+`, 'gu'),
  faults,
});

const allLanguages: TextRule[] = [
  { name: 'no plain space before ? and !', pattern: / [?!]/g, faults: ['Didn’t receive it ?', 'Done !'] },
  {
    name: 'exclamation marks only where the specification has them',
    pattern: /!/g,
    except: exclaimed,
    faults: ['Saved!'],
  },
  {
    name: 'curved quotation marks and apostrophes',
    pattern: /["']/g,
    faults: ["Don't share it.", 'Choose "Disable".'],
  },
  {
    name: 'one ellipsis character',
    pattern: /\.{2,}/g,
    // “Just a moment...” is quoted.
    except: /^(?:checkout\.completed|signUp\.confirmed)\.heading$/,
    faults: ['Loading...', 'Email address..'],
  },
  { name: 'one space', pattern: / {2}|^ | $/g, faults: ['Two  spaces', ' before', 'after '] },
  {
    name: 'no terms of the protocols',
    pattern: word('tokens?|clients?|scopes?|claims|MFA|TOTP|2FA|OAuth|OpenID|OIDC|SAML|IdP'),
    // The answer to programs, and the customer at Stripe, which is “client” in French.
    except: /^(?:errors\.unauthorized\.message|checkout\.unavailable\.(?:customer|update)|(?:sandbox|parts)\..*)$/,
    faults: ['The token has expired.', 'Turn on MFA', 'This client isn’t known.'],
  },
  {
    name: 'sentences of at most 25 words',
    pattern: /(?:(?<=^|[.:;!?…] )(?:[^\s.:;!?…]+(?:[.:;!?…](?=\S)[^\s.:;!?…]*)*[ \u00a0]){25,}[^\s]+)/gu,
    faults: [`${'word '.repeat(25)}end.`],
  },
];

const english: TextRule[] = [
  sentenceCase('en', ['Sign In', 'Edit Email', 'Please select Next']),
  {
    name: '“Please input” only where the specification has it',
    lang: 'en',
    pattern: word('please input'),
    except: /^password\.(?:request\.empty|reset\.(?:codeEmpty|passwordEmpty))$/,
    faults: ['Please input your name'],
  },
  {
    name: 'one word for each concept',
    lang: 'en',
    pattern: word(
      'log ?(?:in|on|out|off)|logged (?:in|out)|logins?|(?:e-)?mails?|second (?:step|factor)s?|multi-factor|two-factor|terms of use|short list|teams|back-?up codes?|verification code|single-use code|next charge',
    ),
    faults: [
      'Log in',
      'Logout',
      'E-mail',
      'A mail',
      'Your second factor',
      'Terms of Use',
      'Teams',
      'Verification code',
      'Next charge',
    ],
  },
  {
    name: 'promo code, not coupon',
    lang: 'en',
    pattern: word('coupons?|vouchers?|discount codes?'),
    except: coupons,
    faults: ['Enter a coupon'],
  },
  {
    name: 'people are someone, anyone and no one; “right away”, not “at once”',
    lang: 'en',
    pattern: word('(?:some|any|no|every)body|whoever|whom|at once'),
    faults: ['Somebody knows it', 'Nobody can', 'It ends at once.'],
  },
  {
    name: '“request a new one”, “you’re all set”, not phrases that read translated',
    lang: 'en',
    pattern: /have (?:a new|another) (?:one|code) sent|there(?:’s| is) nothing to do|stored of you|came along/giu,
    faults: ['Please have a new one sent.', 'Then there is nothing to do.', 'Everything that is stored of you'],
  },
  {
    name: 'contractions',
    lang: 'en',
    pattern: word(
      '(?:do|does|did|is|are|was|were|has|have|had|could|will|would|should|can) not|cannot|(?:we|you|they) are|(?:we|they) have|(?:we|you) will|(?<=^|[.:] )(?:it|that|there) is',
    ),
    // A text message has no curved apostrophe (GSM 03.38). Quoted: “User does not exist.”, “… cannot be empty”, “We have sent a code to your phone”.
    except:
      /(?:\.empty|\.countryError|Empty|userDoesNotExist|promo\.second|mfa\.challenge\.sms(?:To)?|mfaSettings\.sms\.sent|parts\.messages\.dialogLead|sms\.code)$/,
    faults: ['You do not need it.', 'We are busy', 'It is over.', 'We have noted it.'],
  },
  {
    name: 'spelling of the United States',
    lang: 'en',
    pattern: word(
      '\\p{L}{3,}isations?|(?:recogn|organ|author|personal|real|final|util|initial|custom)is(?:e|es|ed|ing)|colours?|centres?|favourites?|licences?|programmes?|behaviours?|catalogues?|cheques?|grey|cancell(?:ed|ing)',
    ),
    except: sandboxKeys,
    faults: ['Not recognised', 'Help centre', 'Authorisation', 'Your plan is cancelled'],
  },
];

const german: TextRule[] = [
  {
    name: 'formal address',
    lang: 'de',
    pattern: word('du|dir|dich|dein\\p{L}*|euch|euer|eure\\p{L}*'),
    faults: ['Du bist dran', 'Dein Konto'],
  },
  {
    name: 'one word for each concept',
    lang: 'de',
    pattern: word(
      '(?:ein|aus)loggen|(?:ein|aus)geloggt|log-?(?:in|out)s?|zweite[nr]? (?:Schritt|Faktor)|zweite Faktoren|zwei-schritt-\\p{L}+|probe(?:zeit|zeiten|monat|phase)|favoriten|merkzettel|AGB|geschäftsbedingungen|bestätigungscodes?|backup-codes?|promo-?codes?|teams|zahlungsanbieter\\p{L}*|nächste[nr]? Abbuchung',
    ),
    faults: [
      'Einloggen',
      'Login',
      'Ihr zweiter Faktor',
      'Probezeit',
      'Bestätigungscode',
      'AGB',
      'Ihre Teams',
      'Zahlungsanbieter',
      'Nächste Abbuchung',
    ],
  },
  {
    name: 'the word E-Mail',
    lang: 'de',
    pattern: exactWord('e-?mails?|Emails?|Mails?(?!-)'),
    faults: ['Ihre Email', 'per e-mail', 'eine Mail'],
  },
  {
    name: 'Aktionscode, not Gutschein',
    lang: 'de',
    pattern: word('gutschein\\p{L}*|rabattcodes?'),
    faults: ['Ihr Gutscheincode'],
  },
  {
    name: 'Fordern Sie an, not: lassen Sie sich schicken',
    lang: 'de',
    pattern: /lassen Sie sich|(?:schicken|senden|zusenden) lassen/g,
    faults: ['Lassen Sie sich, nein: lassen Sie sich einen Code schicken', 'einen Code senden lassen'],
  },
  {
    name: 'quotation marks „ “',
    lang: 'de',
    pattern: /[”«»‚‘]|(?<!„[^“]*)“|„(?![^„]*“)/gu,
    faults: ['Wählen Sie “Nein”.', '«Nein»', '„Nein'],
  },
];

const french: TextRule[] = [
  sentenceCase('fr', ['Se Connecter', 'Adresse Postale']),
  { name: 'formal address', lang: 'fr', pattern: word('tu|toi|te|ton|tes'), faults: ['Tu as un code', 'ton compte'] },
  {
    name: 'one word for each concept',
    lang: 'fr',
    pattern: word(
      'e?mails?|courriels?|log-?in|log-?out|(?:deuxième|seconde?) (?:étape|facteur)s?|(?:deuxièmes|seconds) facteurs|double authentification|deux facteurs|passkeys?|forfaits?|plans?|shortlist|codes? de (?:récupération|vérification)|comptes? liés?|façons?|prochain (?:débit|prélèvement)',
    ),
    faults: [
      'Prochain débit',
      'Votre email',
      'un courriel',
      'la deuxième étape',
      'vos passkeys',
      'votre forfait',
      'codes de récupération',
      'compte lié',
      'une autre façon',
    ],
  },
  {
    name: 'code promo, not coupon',
    lang: 'fr',
    pattern: word('coupons?|bons? de réduction'),
    faults: ['Votre coupon'],
  },
  {
    name: 'a no-break space before : ; ? ! and inside « »',
    lang: 'fr',
    pattern: /[^\u00a0\u202f](?:[;?!»]|:(?!\/\/|\d))|«(?![\u00a0\u202f])/gu,
    faults: ['Prêt ?', 'Prêt?', '« Prêt »', '«Prêt»', 'Attention: lisez'],
  },
  {
    name: 'a no-break space before a dash, which begins no line',
    lang: 'fr',
    pattern: /(?<![\u00a0\u202f])[–—]/gu,
    faults: ['Oups – page introuvable', 'Oups —page'],
  },
  { name: 'quotation marks « »', lang: 'fr', pattern: /[“”„‚]|‘/g, faults: ['“Prêt”'] },
  {
    name: 'Veuillez only in errors',
    lang: 'fr',
    pattern: word('veuillez'),
    only: /(?:title|heading|label|submit|hint|detail|lead)$/i,
    faults: ['Veuillez saisir votre code'],
  },
];

const dutch: TextRule[] = [
  sentenceCase('nl', ['Wachtwoord Wijzigen', 'Mijn Account']),
  { name: 'informal address', lang: 'nl', pattern: word('u|uw|uzelf'), faults: ['Uw account', 'als u wilt'] },
  {
    name: 'one word for each concept',
    lang: 'nl',
    pattern: word(
      '(?:aan|af)meld\\p{L}*|(?:aan|af)gemeld|meldt? (?:je|jezelf)(?: \\p{L}+){0,8}? (?:aan|af)|marktplaats|emails?|tweede (?:stap|factor)|tweede factoren|twee-?factor\\p{L}*|toegangssleutels?|back-?upcodes?|verificatiecodes?|login|logout|betaalproviders?|volgende afschrijving',
    ),
    faults: [
      'Volgende afschrijving',
      'Aanmelden',
      'Meld je aan',
      'je bent afgemeld',
      'op deze marktplaats',
      'je email',
      'je tweede factor',
      'Verificatiecode',
      'onze betaalprovider',
    ],
  },
  {
    name: 'promocode, not kortingscode',
    lang: 'nl',
    pattern: word('kortingscodes?|coupons?|vouchers?'),
    faults: ['Je kortingscode'],
  },
  {
    name: 'Vraag aan, not: laat versturen',
    lang: 'nl',
    pattern: /[Ll]aat [^.]*(?:ver)?sturen/g,
    faults: ['Laat een nieuwe versturen'],
  },
  { name: 'quotation marks ‘ ’', lang: 'nl', pattern: /[“”„«»]/g, faults: ['Kies “Nu niet”.'] },
];

export const textRules: readonly TextRule[] = [...allLanguages, ...english, ...german, ...french, ...dutch];

/** What of a text breaks a rule. Values are not judged: their placeholders are one word without letters. */
export function findFaults(rule: TextRule, text: string): string[] {
  return [...text.replaceAll(/\{\{\w+\}\}/g, '{}').matchAll(rule.pattern)].map(([found]) => found);
}
