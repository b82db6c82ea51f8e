export interface ProviderMarkProps {
  /** Paths of 24 by 24 units; undefined: the provider has none. */
  mark: readonly { fill: string; d: string }[] | undefined;
  /** Address of its own logo, if it has one. */
  logo?: string | undefined;
}

/**
 * Decoration: the text beside it names the provider. Marks have their owners' colors on every background. Nothing for a
 * company without a logo.
 */
export function ProviderMark({ mark, logo }: ProviderMarkProps) {
  if (mark === undefined) {
    return logo === undefined ? null : <img src={logo} alt="" width="20" height="20" loading="lazy" />;
  }
  return (
    <svg width="20" height="20" viewBox="0 0 24 24" aria-hidden="true">
      {mark.map(({ fill, d }) => (
        <path key={d} fill={fill} d={d} />
      ))}
    </svg>
  );
}
