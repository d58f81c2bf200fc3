// Who works at which lead, in the words that both stores use.

/** Whether anything is left to be done of a lead: its strategy is not closed, a live copy follows it, or a copy is asked something. */
export const IS_LEFT_TO_DO = `(
  EXISTS (SELECT 1 FROM strategies s WHERE s.id = leads.strategy_id AND s.status <> 'CLOSED')
  OR EXISTS (SELECT 1 FROM copies c WHERE c.strategy_id = leads.strategy_id AND c.status <> 'STOPPED')
  OR EXISTS (
    SELECT 1 FROM copy_requests r JOIN copies c ON c.id = r.copy_id
    WHERE r.done_at IS NULL AND c.strategy_id = leads.strategy_id
  )
)`;

/** All that a holder has; its name is the parameter that is appended. */
export const CLAIMED_BY = `
  SELECT s.id, s.type, s.status, s.version, l.revision FROM leads l JOIN strategies s ON s.id = l.strategy_id
  WHERE l.holder = `;

export type LeadClaim = {
  readonly holder: string;
  readonly now: number;
  readonly until: number;
  readonly isAlone: boolean;
};
