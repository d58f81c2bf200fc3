// The tables that are about people, for Kysely's types; `migrations/people.ts` makes them. Times are wall time, Unix ms. Truths
// are 0 or 1.
import type { ColumnType, Generated } from "kysely";
import type { Actor, AuditAction, AuditSubject } from "../../domain/audit.ts";
import type { KycStatus, Profile, Role } from "../../domain/person.ts";
import type { KycSubmission } from "../people-store.ts";
import type { Integer } from "../schema.ts";

export type PeopleTables = {
  /** The sign-in library's users, with what we know of them besides. */
  people: {
    id: string;
    name: string;
    /** Lower case; unique. */
    email: string;
    email_verified: Integer;
    image: string | null;
    created_at: Integer;
    updated_at: Integer;
    role: Generated<Role>;
    profile: Generated<Profile>;
    kyc: Generated<KycStatus>;
    kyc_reason: string | null;
    locked_at: Integer | null;
    closed_at: Integer | null;
    /** Whether something that belongs to the closed account is still to be closed. */
    is_closing: ColumnType<number, number | undefined, number>;
  };
  /** The token is a hash, unique. */
  sessions: {
    id: string;
    expires_at: Integer;
    token: string;
    created_at: Integer;
    updated_at: Integer;
    ip_address: string | null;
    user_agent: string | null;
    user_id: string;
  };
  /** The sign-in library's accounts: what somebody signs in with. The password is a hash. */
  credentials: {
    id: string;
    account_id: string;
    provider_id: string;
    user_id: string;
    access_token: string | null;
    refresh_token: string | null;
    id_token: string | null;
    access_token_expires_at: Integer | null;
    refresh_token_expires_at: Integer | null;
    scope: string | null;
    password: string | null;
    created_at: Integer;
    updated_at: Integer;
  };
  /** Links that were sent by mail, as hashes. */
  verifications: {
    id: string;
    identifier: string;
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
    /** The latest time step whose code was accepted; 0 if none was. */
    last_step: Integer;
    begun_at: Integer;
  };
  /** Those that have not been used. */
  recovery_codes: { person_id: string; hash: string };
  /** Sign-ins and codes that failed, as long as they count. */
  failed_sign_ins: { position: Generated<Integer>; holder: string; at: Integer };
  /** The last request of each key. */
  key_uses: { key_id: string; at: Integer; address: string; route: string };
  /** Only ever added to: `audit-chain.ts` says what the hash is over. */
  audit: {
    position: Integer;
    at: Integer;
    who_kind: Actor["kind"];
    /** The person who acted; null if no person did. */
    who_id: string | null;
    what: AuditAction;
    about_kind: AuditSubject["kind"];
    about_id: string;
    /** As JSON, which holds whatever a text may. */
    details: string;
    hash: string;
  };
  /** One row, once there is a record: the position and the hash of the last. Whoever adds records changes it first. */
  audit_head: { id: Integer; position: Integer; hash: string };
};
