/** What `foyer provider check` and `foyer doctor` say of one provider. */
export interface ProviderReport {
  id: string;
  /** Hurts now. */
  faults: string[];
  /** Will hurt one day. */
  warnings: string[];
}

export type ProviderCheckResult = Omit<ProviderReport, 'id'>;

export const joinedReports = (...reports: ProviderCheckResult[]): ProviderCheckResult => ({
  faults: reports.flatMap(({ faults }) => faults),
  warnings: reports.flatMap(({ warnings }) => warnings),
});
