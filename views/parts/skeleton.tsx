const widths = ['w-3', 'w-5', 'w-4'] as const;

/** Placeholder of loading content: its lines, with a picture if there will be one. */
export function Skeleton({ label, lines = 3, picture }: { label: string; lines?: number; picture?: boolean }) {
  return (
    <div className="skeleton" role="status">
      <span className="visually-hidden">{label}</span>
      {picture && <span className="skeleton-picture" />}
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines never move
        <span key={line} className={`skeleton-line ${widths[line % widths.length]}`} />
      ))}
    </div>
  );
}
