/** Types that columns of many tables have. */
import type { ColumnType } from "kysely";

export type Instant = ColumnType<Date, Date | string, Date | string>;
export type DefaultInstant = ColumnType<Date, Date | string | undefined, Date | string>;
export type Json<T> = ColumnType<T, string, string>;
/** What a caller said of itself, and what its client calls itself. */
export type StoredActor = Json<Record<string, unknown>> | null;
/** What became of its proof; null where nothing verifies. */
export type StoredVerification = Json<Record<string, unknown>> | null;
