/** One of a few short options, side by side, each an address. For a choice within a form see `Segmented`. */
export function SegmentedLinks(props: {
  label: string;
  parts: readonly { href: string; label: string; current?: boolean }[];
}) {
  return (
    <nav className="segmented" aria-label={props.label}>
      {props.parts.map((part) => (
        <a key={part.href} href={part.href} aria-current={part.current ? 'page' : undefined}>
          {part.label}
        </a>
      ))}
    </nav>
  );
}
