import { Icon } from './icon.tsx';

/** What a plan includes, each with a tick. */
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
