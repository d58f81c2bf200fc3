// The tables about people, for Kysely's types. Times are wall time, Unix ms. Booleans are 0 or 1.
import type { ColumnType, Generated } from "kysely";
import type { Actor, AuditAction, AuditSubject } from "../../domain/audit.ts";
import type { KycStatus, Profile, Role } from "../../domain/person.ts";
import type { Integer } from "../dialect.ts";
import type { KycSubmission } from "../ports/people.ts";

export type PeopleTables = {
  people: {
    id: string;
    name: string;
    /** Lower case; unique. */
    email: string;
    email_verified: Integer;
    created_at: Integer;
    updated_at: Integer;
    role: Generated<Role>;
    profile: Generated<Profile>;
    kyc: Generated<KycStatus>;
    kyc_reason: string | null;
    locked_at: Integer | null;
    closed_at: Integer | null;
    /** Whether anything that belongs to the closed account is still open. */
    is_closing: ColumnType<number, number | undefined, number>;
  };
  sessions: {
    id: string;
    expires_at: Integer;
    /** A hash; unique. */
    token: string;
    created_at: Integer;
    /** When the session was last used. */
    updated_at: Integer;
    ip_address: string | null;
    user_agent: string | null;
    user_id: string;
  };
  /** One row per person, with the id of the person as its account. */
  credentials: {
    id: string;
    account_id: string;
    provider_id: string;
    user_id: string;
    /** A hash. */
    password: string | null;
    created_at: Integer;
    updated_at: Integer;
  };
  /** Mailed links. */
  verifications: {
    id: string;
    /** A hash. */
    identifier: string;
    /** What the link is for, and whose it is. */
    value: string;
    expires_at: Integer;
    created_at: Integer;
    updated_at: Integer;
  };
  kyc_submissions: {
    id: string;
    person_id: string;
    sealed_form: string;
    status: KycSubmission["status"];
    submitted_at: Integer;
    decided_at: Integer | null;
    decided_by: string | null;
    reason: string | null;
  };
  second_factors: {
    person_id: string;
    sealed_seed: string;
    is_enabled: Integer;
    /** The latest accepted time step; 0 if there is none. */
    last_step: Integer;
    begun_at: Integer;
  };
  /** Unused ones. */
  recovery_codes: { person_id: string; hash: string };
  /** Failed sign-ins and codes, as long as they count. */
  failed_sign_ins: { position: Generated<Integer>; holder: string; at: Integer };
  /** The last request of each key. */
  key_uses: { key_id: string; at: Integer; address: string; route: string };
  /** Append-only: `audit-chain.ts` defines the hash. */
  audit: {
    position: Integer;
    at: Integer;
    who_kind: Actor["kind"];
    /** The actor; null if it is no person. */
    who_id: string | null;
    what: AuditAction;
    about_kind: AuditSubject["kind"];
    about_id: string;
    /** JSON, which escapes characters that a database rejects. */
    details: string;
    hash: string;
  };
  /** At most one row: position and hash of the last record. Every audited transaction changes it first. */
  audit_head: { id: Integer; position: Integer; hash: string };
};
