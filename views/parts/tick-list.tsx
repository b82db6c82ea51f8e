import { Icon } from './icon.tsx';

/** The features of a plan, each with a tick. */
export function TickList({ items }: { items: readonly string[] }) {
  return (
    <ul className="ticks">
      {items.map((item) => (
        <li key={item}>
          <Icon name="tick" />
          {item}
        </li>
      ))}
    </ul>
  );
}
