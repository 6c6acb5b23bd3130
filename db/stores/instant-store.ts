/** What becomes due by itself, and when: the ends of claims and of waits, reminders, schedules. */
import { type Handle, statement } from "../statement.ts";

export interface DueInstant {
  /** `sweep`: a claim may be ended. `available`: an item's wait is over. `wake_up`: a reminder or a schedule is due. */
  readonly kind: "sweep" | "available" | "wake_up";
  /** Milliseconds of the database's clock. */
  readonly at: number;
  readonly inMs: number;
}

interface DueRow {
  kind: DueInstant["kind"];
  at: Date;
  in_ms: number;
}

/** Claims that are looked at. A sweep looks again anyway, so an instant missed here is late by a second. */
const CLAIMS_LOOKED_AT = 100;

// Both instants of a claim at which a sweep may end it: its grace is over (if the clock
// heard nobody), and half a ttl has passed (whatever the clock says).
const next = statement<DueRow>(
  "instants_next",
  `with ends as (
      select e.expires_at, e.ttl_ms from item_state e
      where e.agent is not null and e.expires_at > muster_now() - interval '12 hours'
      order by e.expires_at limit ${CLAIMS_LOOKED_AT}
    ), found as (
      select 'sweep' as kind, e.expires_at + least(e.ttl_ms / 3.0, $1) * interval '1 millisecond' as at from ends e
      union all
      select 'sweep', e.expires_at + e.ttl_ms / 2.0 * interval '1 millisecond' from ends e
      union all
      (select 'available', s.available_at from item_state s
        where s.available_at is not null and s.agent is null and s.role in ('queue', 'work', 'review')
          and s.available_at > muster_now()
        order by s.available_at limit 1)
      union all
      (select 'wake_up', r.remind_at from reminders r where r.fired_at is null and r.remind_at > muster_now()
        order by r.remind_at limit 1)
      union all
      (select 'wake_up', p.next_at from schedules p where p.next_at > muster_now() order by p.next_at limit 1)
    )
    select kind, min(at) as at, extract(epoch from min(at) - muster_now())::float8 * 1000 as in_ms
    from found where at > muster_now() group by kind`,
);

/** The next instant of each kind, if there is one. @param graceMaxMs as in `findExpired` */
export async function findNextInstants(handle: Handle, graceMaxMs: number): Promise<DueInstant[]> {
  const rows = await next(handle, [graceMaxMs]);
  return rows.map((row) => ({ kind: row.kind, at: row.at.getTime(), inMs: row.in_ms }));
}
