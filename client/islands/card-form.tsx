import { type RefObject, useEffect, useRef, useState } from 'react';
import {
  type CardFieldName,
  type CardFieldsLive,
  type CardFieldsProps,
  CardFieldsView,
  cardElements,
  cardFields,
  cardFormId,
} from '../../views/billing/card-form.tsx';
import { type Card, type CardEvents, type Failure, openCard } from '../stripe.ts';

type Errors = NonNullable<CardFieldsLive['errors']>;
type Typed = readonly [name: string, zip: string];

/** Stripe's own words are the last: they are not always in the language of the page. */
const errorText = ({ faults, failed }: CardFieldsProps, { decline_code, code, message }: Failure): string =>
  faults[decline_code as string] ?? faults[code as string] ?? message ?? failed;

const changed = (part: CardFieldsLive) => (before: CardFieldsLive) => ({
  ...before,
  ...part,
  errors: { ...before.errors, ...part.errors },
});

/** The faults when the button is pressed; the payment element asks for everything itself, and shows its own. */
function findFaults({ methods, empty }: CardFieldsProps, wrong: Errors, [name, zip]: Typed): Errors {
  if (methods) return {};
  return { ...wrong, name: name ? undefined : empty, zip: zip ? undefined : empty };
}

type Update = (change: (before: CardFieldsLive) => CardFieldsLive) => void;

/** Connects Stripe's fields with the form around the island and its button, for as long as the page is open. */
function connect(props: CardFieldsProps, card: RefObject<Card | null>, update: Update): void {
  const form = document.forms.namedItem(cardFormId) as HTMLFormElement;
  const button = form.lastElementChild as HTMLButtonElement;
  const input = (name: string) => form.elements.namedItem(name) as HTMLInputElement;
  /** The fault of each of Stripe's fields: an untouched one fires no event. */
  const wrong: Errors = {};
  const set = (part: CardFieldsLive) => update(changed(part));
  const setBusy = (busy: boolean) => {
    button.disabled = busy;
    button.ariaBusy = busy ? 'true' : null;
  };
  const refuse = (errors: Errors, first: CardFieldName) => {
    set({ errors, summary: true });
    if (first !== 'name' && first !== 'zip') card.current?.focus(first);
    else input(first).focus();
  };

  function send(setupIntent: string) {
    input('setupIntent').value = setupIntent;
    // Disabled fields are not sent.
    if (!props.methods) input('name').disabled = input('zip').disabled = true;
    form.submit();
  }

  async function save(event: Event) {
    event.preventDefault();
    if (button.disabled) return;
    const read = (own: string) => (props.methods ? '' : input(own).value.trim());
    const typed: Typed = [read('name'), read('zip')];
    const errors = findFaults(props, wrong, typed);
    const first = cardFields.find((one) => errors[one]);
    if (first) return refuse(errors, first);
    setBusy(true);
    set({ problem: undefined, errors, summary: false });
    const answer = await card.current?.setUp(props.setupUrl, ...typed).catch((): Failure => ({}));
    // The page itself redirects.
    if (!answer) return location.assign(form.action);
    if ('setupIntent' in answer) return send(answer.setupIntent);
    setBusy(false);
    const text = errorText(props, answer);
    const owner = !props.methods && cardFields.find((one) => one !== 'name' && answer.code?.includes(one));
    set({ problem: owner || answer.code === 'incomplete' ? undefined : text });
    if (owner) refuse({ [owner]: text }, owner);
  }

  const failed = () => set({ problem: props.notLoaded });
  for (const name of cardElements) wrong[name] = props.faults[`incomplete_${name}`];
  const on: CardEvents = {
    changed(name, { complete, error }) {
      const text = error && errorText(props, error);
      wrong[name] = complete ? undefined : (text ?? props.faults[`incomplete_${name}`]);
      // Another field may have triggered it, the number the code's: its own error still holds.
      update((before) =>
        before.focused === name || complete || text ? changed({ errors: { [name]: text } })(before) : before,
      );
    },
    focused: (name) => set({ focused: name }),
    ready: () => setBusy(false),
    failed,
  };
  form.addEventListener('submit', save);
  input(props.focus)?.focus();
  openCard(props, cardElements, on).then((opened) => {
    card.current = opened;
  }, failed);
  // Restored from the back-forward cache: its content is outdated.
  addEventListener('pageshow', (event) => event.persisted && location.reload());
}

/**
 * Mounts Stripe's card elements or its payment element, lets Stripe check and store the card or other payment method, and
 * posts only the setup intent's id.
 */
export default function CardForm(props: CardFieldsProps) {
  const [live, setLive] = useState<CardFieldsLive>({});
  const card = useRef<Card>(null);
  useEffect(() => connect(props, card, setLive), [props]);
  return (
    <CardFieldsView
      {...props}
      {...live}
      onFrameFocus={(name) => card.current?.focus(name)}
      onTyped={(name) => setLive(changed({ errors: { [name]: undefined } }))}
    />
  );
}
