import type { CardField, FaultCode } from './card-rules.ts';

/** The texts of Stripe's elements, in Foyer's languages. */
interface Texts {
  labels: Record<CardField, string>;
  faults: Record<FaultCode, string>;
  payment: {
    /** The methods whose names are words. */
    methods: Record<'card' | 'sepa_debit', string>;
    labels: Record<CardField | 'iban' | 'name' | 'email', string>;
    notes: Partial<Record<string, string>>;
    incomplete: string;
  };
  challenge: string;
  notAuthenticated: string;
  cancel: string;
}

const english: Texts = {
  labels: {
    cardNumber: 'Credit or debit card number',
    cardExpiry: 'Credit or debit card expiration date',
    cardCvc: 'Credit or debit card CVC/CVV',
  },
  faults: {
    incomplete_number: 'Your card number is incomplete.',
    invalid_number: 'Your card number is invalid.',
    incomplete_expiry: 'Your card’s expiration date is incomplete.',
    invalid_expiry_month_past: 'Your card’s expiration date is in the past.',
    invalid_expiry_year_past: 'Your card’s expiration year is in the past.',
    incomplete_cvc: 'Your card’s security code is incomplete.',
  },
  payment: {
    methods: { card: 'Card', sepa_debit: 'SEPA Direct Debit' },
    labels: {
      cardNumber: 'Card number',
      cardExpiry: 'Expiration date',
      cardCvc: 'Security code',
      iban: 'IBAN',
      name: 'Full name',
      email: 'Email',
    },
    notes: {
      sepa_debit:
        'By providing your IBAN you allow this business and Stripe to debit your account, as your bank’s rules for SEPA debits have it. You can ask for a refund within eight weeks.',
      ideal: 'After you go on, your bank’s page opens.',
      bancontact: 'After you go on, your bank’s page opens.',
    },
    incomplete: 'Please fill in every field.',
  },
  challenge: 'Your bank asks whether it is you',
  notAuthenticated:
    'We are unable to authenticate your payment method. Please choose a different payment method and try again.',
  cancel: 'Cancel',
};

const german: Texts = {
  labels: {
    cardNumber: 'Kredit- oder Debitkartennummer',
    cardExpiry: 'Ablaufdatum der Kredit- oder Debitkarte',
    cardCvc: 'Prüfziffer der Kredit- oder Debitkarte',
  },
  faults: {
    incomplete_number: 'Die Kartennummer ist unvollständig.',
    invalid_number: 'Die Kartennummer ist ungültig.',
    incomplete_expiry: 'Das Ablaufdatum der Karte ist unvollständig.',
    invalid_expiry_month_past: 'Das Ablaufdatum der Karte liegt in der Vergangenheit.',
    invalid_expiry_year_past: 'Das Ablaufjahr der Karte liegt in der Vergangenheit.',
    incomplete_cvc: 'Die Prüfziffer der Karte ist unvollständig.',
  },
  payment: {
    methods: { card: 'Karte', sepa_debit: 'SEPA-Lastschrift' },
    labels: {
      cardNumber: 'Kartennummer',
      cardExpiry: 'Ablaufdatum',
      cardCvc: 'Prüfziffer',
      iban: 'IBAN',
      name: 'Vollständiger Name',
      email: 'E-Mail',
    },
    notes: {
      sepa_debit:
        'Mit Ihrer IBAN erlauben Sie diesem Unternehmen und Stripe, Ihr Konto per SEPA-Lastschrift zu belasten. Innerhalb von acht Wochen können Sie eine Erstattung verlangen.',
      ideal: 'Danach öffnet sich die Seite Ihrer Bank.',
      bancontact: 'Danach öffnet sich die Seite Ihrer Bank.',
    },
    incomplete: 'Bitte füllen Sie alle Felder aus.',
  },
  challenge: 'Ihre Bank fragt, ob Sie es sind',
  notAuthenticated:
    'Ihr Zahlungsmittel konnte nicht authentifiziert werden. Wählen Sie ein anderes, und versuchen Sie es noch einmal.',
  cancel: 'Abbrechen',
};

const french: Texts = {
  labels: {
    cardNumber: 'Numéro de carte de crédit ou de débit',
    cardExpiry: 'Date d’expiration de la carte de crédit ou de débit',
    cardCvc: 'Code CVC/CVV de la carte de crédit ou de débit',
  },
  faults: {
    incomplete_number: 'Le numéro de votre carte est incomplet.',
    invalid_number: 'Le numéro de votre carte n’est pas valide.',
    incomplete_expiry: 'La date d’expiration de votre carte est incomplète.',
    invalid_expiry_month_past: 'La date d’expiration de votre carte est passée.',
    invalid_expiry_year_past: 'L’année d’expiration de votre carte est passée.',
    incomplete_cvc: 'Le code de sécurité de votre carte est incomplet.',
  },
  payment: {
    methods: { card: 'Carte', sepa_debit: 'Prélèvement SEPA' },
    labels: {
      cardNumber: 'Numéro de carte',
      cardExpiry: 'Date d’expiration',
      cardCvc: 'Code de sécurité',
      iban: 'IBAN',
      name: 'Nom complet',
      email: 'E-mail',
    },
    notes: {
      sepa_debit:
        'En indiquant votre IBAN, vous autorisez cette entreprise et Stripe à débiter votre compte par prélèvement SEPA. Vous pouvez demander un remboursement pendant huit semaines.',
      ideal: 'La page de votre banque s’ouvre ensuite.',
      bancontact: 'La page de votre banque s’ouvre ensuite.',
    },
    incomplete: 'Veuillez remplir tous les champs.',
  },
  challenge: 'Votre banque demande si c’est bien vous',
  notAuthenticated: 'Votre moyen de paiement n’a pas pu être authentifié. Choisissez-en un autre et réessayez.',
  cancel: 'Annuler',
};

const dutch: Texts = {
  labels: {
    cardNumber: 'Nummer van de creditcard of betaalpas',
    cardExpiry: 'Vervaldatum van de creditcard of betaalpas',
    cardCvc: 'CVC/CVV van de creditcard of betaalpas',
  },
  faults: {
    incomplete_number: 'Je kaartnummer is onvolledig.',
    invalid_number: 'Je kaartnummer is ongeldig.',
    incomplete_expiry: 'De vervaldatum van je kaart is onvolledig.',
    invalid_expiry_month_past: 'De vervaldatum van je kaart ligt in het verleden.',
    invalid_expiry_year_past: 'Het vervaljaar van je kaart ligt in het verleden.',
    incomplete_cvc: 'De beveiligingscode van je kaart is onvolledig.',
  },
  payment: {
    methods: { card: 'Kaart', sepa_debit: 'SEPA-incasso' },
    labels: {
      cardNumber: 'Kaartnummer',
      cardExpiry: 'Vervaldatum',
      cardCvc: 'Beveiligingscode',
      iban: 'IBAN',
      name: 'Volledige naam',
      email: 'E-mail',
    },
    notes: {
      sepa_debit:
        'Met je IBAN geef je dit bedrijf en Stripe toestemming om je rekening via SEPA-incasso te belasten. Binnen acht weken kun je het bedrag terugvragen.',
      ideal: 'Daarna opent de pagina van je bank.',
      bancontact: 'Daarna opent de pagina van je bank.',
    },
    incomplete: 'Vul alle velden in.',
  },
  challenge: 'Je bank vraagt of jij het bent',
  notAuthenticated: 'Je betaalmethode kon niet worden geverifieerd. Kies een andere en probeer het opnieuw.',
  cancel: 'Annuleren',
};

const known: Record<string, Texts> = { en: english, de: german, fr: french, nl: dutch };

/** @param locale in Stripe's format; `auto` is the browser's */
export function textsFor(locale = 'auto'): Texts {
  const language = (locale === 'auto' ? navigator.language : locale).slice(0, 2);
  return known[language] ?? english;
}
