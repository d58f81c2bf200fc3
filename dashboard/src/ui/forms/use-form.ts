// The state of a form: the values of its fields, and sending them. A failed attempt clears the code, which works only once.
import { type QueryKey, useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type ApiError, asApiError, fieldsOf } from "../../api/error.ts";
import { outdate } from "../../api/query-client.ts";
import { toast } from "../overlays/toast.tsx";

export type FormOptions<Values, Answer> = {
  /** The values at first. */
  readonly first: Values | (() => Values);
  readonly send: (values: Values) => Promise<Answer>;
  /** Said when it is done. */
  readonly says?: string | ((answer: Answer, values: Values) => string);
  /** Keys of the queries that are out of date when it is done. */
  readonly outdates?: readonly QueryKey[];
  readonly onDone?: (answer: Answer) => unknown;
  readonly onError?: (error: ApiError, set: (changes: Partial<Values>) => void) => void;
  readonly onSettled?: () => unknown;
};

export type Form<Values extends object> = ReturnType<typeof useForm<Values, unknown>>;

export function useForm<Values extends object, Answer>(options: FormOptions<Values, Answer>) {
  const { first, send, says, outdates = [], onDone, onError, onSettled } = options;
  const [values, setValues] = useState(first);
  const set = (changes: Partial<Values>) => setValues((before) => ({ ...before, ...changes }));
  const { mutate, data, error, isPending, reset } = useMutation({
    mutationFn: () => send(values),
    onSuccess: (answer) => {
      if (says !== undefined) toast(typeof says === "string" ? says : says(answer, values));
      outdate(...outdates);
      return onDone?.(answer);
    },
    onError: (failure) => {
      setValues((before) => ("code" in before ? { ...before, code: "" } : before));
      onError?.(asApiError(failure), set);
    },
    onSettled: () => onSettled?.(),
    // The cache must not keep passwords and codes.
    gcTime: 0,
  });
  const fields = fieldsOf(error);
  const onSubmit = (event?: FormEvent) => {
    event?.preventDefault();
    mutate();
  };
  return {
    values,
    set,
    fields,
    /** Undefined until the server has accepted the form. */
    answer: data,
    reset,
    /** For the element or component of the form. */
    onSubmit,
    isBusy: isPending,
    error,
    /** The props of the input or select of a field. */
    control: <Name extends keyof Values & string>(name: Name) => ({
      name,
      value: values[name],
      onChange: ({ target }: { readonly target: { readonly value: string } }) =>
        set({ [name]: target.value } as unknown as Partial<Values>),
      error: fields[name],
    }),
    /** The props of a component that passes the value itself. */
    direct: <Name extends keyof Values & string>(name: Name) => ({
      value: values[name],
      onChange: (value: Values[Name]) => set({ [name]: value } as unknown as Partial<Values>),
      error: fields[name],
    }),
  };
}
