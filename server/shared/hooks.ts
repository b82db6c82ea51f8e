/** The functions that follow an event, by what they do. They run one after the other, in the order of the list. */
export type Subscribers<Act> = Readonly<Record<string, Act>>;

/** Calls each subscriber. The first that fails makes the event fail, and later ones are not called. */
export async function runInTurn<Event extends readonly unknown[]>(
  subscribers: Subscribers<(...event: Event) => Promise<void>>,
  ...event: Event
): Promise<void> {
  for (const act of Object.values(subscribers)) await act(...event);
}

/** An event whose subscribers are set later. */
interface HookedEvent<Event extends readonly unknown[]> {
  /** Calls the subscribers, as `runInTurn` does. */
  publish(...event: Event): Promise<void>;
  subscribe(subscribers: Subscribers<(...event: Event) => Promise<void>>): void;
}

/** An event without subscribers. */
export function createEvent<Event extends readonly unknown[]>(): HookedEvent<Event> {
  let listed: Subscribers<(...event: Event) => Promise<void>> = {};
  return {
    publish: (...event) => runInTurn(listed, ...event),
    subscribe(subscribers) {
      listed = subscribers;
    },
  };
}
