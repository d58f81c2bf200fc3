// What a copier can do here today, plainly.
import { Card } from "../../ui/card.tsx";

export function CopierToday() {
  return (
    <Card title="What a copier can do today">
      <p>
        Copying other people’s strategies is not offered yet: you can’t connect an exchange account here, and
        nothing is traded for you.
      </p>
      <p className="mt-2">
        You can verify your identity and set up your second factor now; both stay with your account. Or switch
        to the Trader profile and let a bot of your own trade a virtual account.
      </p>
    </Card>
  );
}
