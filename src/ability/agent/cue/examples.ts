// Example requests of each specialist, and of nobody (`none`), separated by `|`. Requests that are like them in their words or
// their meaning are for the same one.
export const examples: Readonly<Record<string, string>> = {
  operator: `
the app crashes on startup, have a look and make it stop | shrink all photos in the holiday directory to 1024 pixels |
why does the pipeline keep failing? get it through | put a license header on top of each source file | swap the two buttons in the toolbar code |
turn this notebook into a proper python module | my laptop is full, clear out old build output | the server won't come up after the update |
extract the duplicate code into one function | give the project a gitignore | check out the feature branch and get it to compile |
count the lines of code per language | sort the entries in that json by date | make the button blue | wire the new endpoint into the router |
tidy up the imports | the tests take ages, speed them up | bring the dependencies up to date | launch the emulator |
introduce a cache in front of the database call | copy the photos from the usb stick to the archive | which process eats all my cpu? stop it |
translate the error messages in the code to German | generate a csv with the monthly totals out of the raw data | revert what you did to the header |
there is a typo in the title of the about screen | log output is too noisy, turn it down | get rid of the deprecated calls |
let the program print the version when started with a flag | transform the xml into yaml | increase the timeout to 30 seconds |
show me the last 50 lines of the server log | produce a word document with the table from the spreadsheet | comment out the second block and try again |
add a column for the phone number to the users table | could you have a go at the flaky checkout spec, it dies on CI every second time |
Stage only the changes in api/ and amend them to HEAD | my colleague's code uses var everywhere, modernise it | how big is node_modules? |
grab the newest main and see if it still compiles | please arrange that the program writes its logs to stdout |
turn the three helper functions into a class | free port 5432, something is hogging it | the search page shows results twice. find the cause and correct it |
put the api url into an env var instead of hardcoding it | mach bitte einen neuen branch namens feature-x | wrap the call in a try/catch |
regenerate the lockfile | I need this csv as an Excel sheet | don't explain, just do the rename | is redis up on this box? if not bring it up |
the login endpoint returns 500 since yesterday, pls take care | delete the notes folder | let the function return null rather than throwing |
write tests for the encryption helper | Please take the latest dump and load it into the local database |
why is the container restarting all the time? sort it | give every public method a doc comment | sync the fork with upstream |
my python script prints nothing, find out why and solve it | make the font of the headings bigger | put the helpers in a separate package |
the CI job times out, raise the limit | write a small tool that counts words in a text |
can u create a new directory named reports and put an empty index.html in it | change all occurrences of colour to color | I'd like the output to be sorted |
set the java version to 21 in the build | something is wrong with the date formatting on the invoices, it's off by a day |
check whether the code passes the linter | is python installed here? | show the diff between my branch and main | what's eating my disk? |
back up the database before the upgrade | prepare a pull request with these changes | without asking me again, install the missing libraries and build |
don't plan, do: upgrade react | the function is slow for big inputs, make it linear | add error handling when the network is gone |
move the css into its own file | let the buttons have rounded corners | rewrite the loop with map and filter |
turn on strict mode and correct all the complaints | add a page for imprint to the website code | fix broken links in the markdown files |
extract the text of these scans into txt files | execute main.py with the sample data | roll the schema back one version |
add a password reset feature to the backend | rename the memory module to storage | remove the encrypt option from the cli |
the plan.md has wrong numbering, correct it | make it so that the form remembers its values | replace the bookmarked urls in the config |
port the search function from python to rust`,
  navigator: `
what is the current price of bitcoin | see whether our shop shows the new banner | who won the match yesterday? look it up online |
make a reservation for two at the italian place tonight | find me cheap flights to rome in may | what are people saying on reddit about this |
enter my address in the delivery form and stop before paying | check the opening hours of the library | watch this youtube video and sum it up |
read the top comments under that article | does the menu still open when you tap it on a phone | get me the newest headlines |
type my username into the field and continue | show me how the homepage looks | compare the prices of three online stores | is the site reachable |
download the brochure from the company's page | collect the email addresses from the team page | accept the terms and move on to the next screen |
what does it say when you open that address | look on amazon for a mechanical keyboard under 100 euros | register an account for me with this email |
when does the next bus leave, check the timetable online | scroll down until more results load | go back to the previous page and choose the other option |
find reviews of this phone | pick the second item in the dropdown and submit | search for apartments in Zurich under 2000 francs |
what is trending on github this week | verify that every link in the footer works | post this text as a comment under the ticket in jira |
how is the weather tomorrow | read the changelog of the library on its website | take a look at this link and give me the gist |
print the recipe from the cooking site | could you see what time the museum closes on sundays | buy two tickets for the 8pm show, aisle seats if possible |
what's the top question on stackoverflow tagged typescript | open up the admin console in chrome and tell me what error you see |
has apple announced anything new this week? | find out online whether version 5 of the library is out |
the boss wants to know what our rivals charge, look at their sites | choose "express delivery" and go to the next step of the checkout |
check that the contact form sends when all the fields are filled | is there a post about us on lobste.rs |
read the security advisory at https://nvd.nist.gov/vuln/detail/CVE-2024-1 for me | pull the table of results from that wikipedia entry |
how does our site look on a small screen | not in our docs, on the vendor's site: what does error 12 mean | upload my cv on the jobs portal |
what's the euro at against the dollar right now | go through the tutorial at learn.svelte.dev |
don't download anything, only tell me what the page title is | click the blue thing at the top right | look at the facebook page of the town hall |
show me what the new york times writes on the elections | can you get me the phone number of the dentist at the corner |
which movies are on in the cinema tonight | how much is a macbook air in the apple store | log me into the wordpress admin and publish the draft |
please try out the booking process as a customer would | I need the address of the embassy, surely it is on their site |
see if there are new job ads at google | copy the table on that page for me | what score did the lakers get last night |
does the logo show up on every subpage | select all the items and press delete in the web mail | hover over the chart and read out the value for may |
open three tabs with the top results | which version of django is the newest at the moment | leave a like on the latest post |
check my order status at the shop | wait until the spinner goes away and read the message | close the popup | is the ticket still available |
what do the customer reviews say about battery life | find the email address of their support team on the contact page |
browse to the settings screen and turn on notifications | play the demo on their page and describe what you see |
what is the current exchange rate of the yen | translate this web page for me | fetch the article behind this link |
compare our landing page with the one of the competition | put "blue shoes" in the search field of the store and sort by price |
send the enquiry through their web form | don't guess, look on the internet who the ceo of nokia is | are there traffic jams on the a1 at present |
reserve a meeting room in the booking portal | find the nearest pharmacy that is open | use the calculator on the bank's page to work out the mortgage |
run through the signup with a fake user and tell me where it gets stuck | find documentation for this library on the web |
did the company publish its annual report online yet | screenshot the error message the page shows | look up flights, not trains`,
  vault: `
keep this login away from prying eyes | nobody but me may be able to open this archive | here is the license code, store it somewhere safe |
did someone alter this download | compute the fingerprint of the certificate | I need a random 32 character passphrase |
check that the binary is really from the publisher | the server needs the database credentials at deploy time, pass them along without showing |
what keys do we have on file | remove the token of the former employee | turn the plaintext into something unreadable |
make the archive readable again, I have the passphrase | put my signature under the agreement | send 20 dollars to alice | how much money is in the account |
my card number should be saved securely | call the api with the stored bearer token | change the admin password to something random |
compare the sha sum with the one they published | are both files byte for byte the same? use a digest | protect the tax documents with a password |
refund the customer's last payment | open the sealed envelope file | issue a new signing key and retire the old one |
the wifi code is 8812, keep it confidential | which accounts do you hold logins for | is this message really from the ceo, check the signature |
convert the private key to another format | give the script access to the smtp login but don't print it |
obfuscate the customer names so that they cannot be recovered | seal the report for the auditors with their public key |
set the environment secret for production | get my two factor code | settle the bill from the hosting company | make sure the backup was not modified |
i got a new npm publish token, where shall we keep it? it must not leak | please make the payroll sheet only readable with a passphrase |
give me a blake2 of this archive | does the sig match? | delete the sendgrid credential | what names of secrets are in there |
we got a file.asc and file.zip, check they belong together | store the wifi password, but don't write it in any file |
need a new 24 char password for the router | decipher the attachment from legal | run the deploy with the AWS secret in its environment |
send 15 bucks to Tom for lunch | produce an ed25519 identity for the build bot | the recovery codes have to go somewhere safe |
make this text secret so the intern can't read it | find out if my stored github token still exists | how do I know this ISO was not manipulated |
hmac the payload with the webhook secret | put my initials cryptographically under this pdf | don't tell me the password, use it to connect |
here's my api token: please never lose it and never display it | which password did I save for the mail server? only tell me if there is one |
wrap this file in strong encryption and mail ready | replace the old private key by a fresh one | open the encrypted notes for me |
I want to be sure the installer is genuine | give me the sha-512 of every file in the directory | sign my commit message with the team key |
buy 10 dollars of credit with my card | what is left on the prepaid card | hide the client list from everyone else | the key leaked, revoke it at once |
login data for the router: admin / 1234, keep it | put the bot token where only the deploy can get at it | two files, same content? compare hashes |
how many secrets do you keep | use my saved login to call the billing api | make a pgp message for anna | the auditor wants a signed copy of the report |
erase the ssh passphrase from the keychain | add a salt and hash the pins | convert the secret into base64 for the cluster without showing it |
is the certificate chain valid | lock the diary | get the plain text back from this ciphertext | authorize the payment to the supplier |
create a one time code | hand the webhook key to the test run, masked | we must not store card numbers in clear, protect them |
does the md5 agree with the one on their page | export the public half of my key | where do I put the production password so that it stays secret |
don't commit the token, store it properly | make sure nobody can read these photos without my password | pay for the domain renewal |
attest that build 42 was made by us | remember the door code 4711 but keep it secret | verify the license file against our public key |
register my hardware key | the contract needs a digital signature`,
  librarian: `
how is the discount calculated at the moment | what happens in the code after a user clicks buy |
who is responsible for onboarding according to the handbook | show every place that still uses the old client |
what does the contract require when we cancel early | summarize the three papers in this directory | is the feature described anywhere |
which of our services touch the orders table | what is the default value of the timeout option | point me to the function that validates emails |
what arguments does the export command take, see the manual | give me an overview of how the modules fit together |
does anything still import the legacy logger | what was written in the minutes about the budget | how many chapters deal with thermodynamics |
get me all passages on data retention | I want to understand how the scheduler picks jobs | what does this class inherit from |
on which page of the manual is the wiring diagram | are there examples for pagination in our docs |
file this fact so that others can look it up: the printer is on floor two | what are the requirements for the visa according to the leaflet |
which config options exist | tell me what the error code 4012 stands for in our system | who wrote the section on testing |
compare what both reports say on revenue | where does the value of this variable come from | which modules would be affected if I change the user type |
what is our policy on remote work | list the papers that cite Vaswani | do we have a utility for parsing dates already | dig out the clause on warranty |
read the onboarding guide and answer: who gives me a badge | what columns does the invoice table have |
connect the person Ana with the project Falcon in the graph | what triggers the nightly job? | tell me how permissions are checked in this app |
which commit style do our contributing guidelines ask for | who inherits from BaseController | can you see in the pdfs how much the deposit is |
what's the name of the env variable that sets the log level | just look, don't touch: where does the header get its color from |
whats in the appendix of the audit report | is the old sdk still referenced anywhere | give me a tour of the code |
which web framework does this project use | does the lease allow pets | what did the authors of the paper conclude |
list all environment variables the service reads | find the page in the manual about resetting the device |
from our onboarding documents: how do I request a laptop | how is class A connected to class B | are there duplicates of this function in other packages |
extract all definitions from the glossary | what password rules does the spec demand | can you tell me what this repository is about |
which part of the program writes to the disk | why does the parser return null for empty strings? just explain, no fix |
find everything on onboarding in the handbook | does our insurance cover water damage? the policy is in the folder |
how do the frontend and the backend talk to each other | what parameters does createUser accept | what is the purpose of the worker folder |
find the ticket numbers mentioned in the release notes file | is there any documentation on backups | which paragraph regulates overtime |
show the callers of that method | who is the author of the second paper and what is the main result | how many endpoints have no tests |
what do we have in writing about discounts | look into the archive of letters for anything about the roof | what license is this project under |
give me the gist of chapter 3 | which customers are connected to which contracts | what are the allowed values for the mode setting |
search all markdown for the word deprecated | tell me which tests cover the cart | does the code handle leap years |
collect all quotes on freedom from the novel | how do I configure the proxy, according to the readme | I look for the sentence where he describes the storm |
where are the secrets loaded in the code | which page of the pdf explains the encryption scheme | where in the docs is the command to run the tests |
what does the plan document list as risks | don't run it, only read the script and tell me what it does | find the function that opens the browser |
enter into the knowledge base that port 9000 belongs to sonar | add the paper to the index | which modules import the memory package |
how is the hash of a session computed in our code | what's the return type of load | is the password rule described in the guidelines |
summarise the design document | which rows in the tables link orders to invoices`,
  planner: `
we want to move offices in june, what has to happen when | how can I get from zero to a published app |
what would the work look like if we supported offline mode | put these tasks in a sensible order | prepare the conference: who needs to do what by when |
turn this idea into a list of work items | I have two weeks until the exam, how should I divide the topics |
sketch how we could get the team onto the new framework | what should come first, the api or the ui | give me a checklist for going live |
what do we need to do to open a branch in Spain | make a training program for a marathon | how long would it take and in what stages |
we need to cut costs, come up with a course of action | slice this story into smaller ones | define the workstreams for the merger |
let us think about how to approach the rewrite | which of these can wait and which are urgent | draw up the agenda and tasks for the offsite |
list what must be finished before each stage can begin | I feel overwhelmed by this project, help me get it in order |
set targets for each month until december | how do we get this done by friday, who takes what | design the rollout in waves |
create a work breakdown for the new warehouse | what's the best way to go about hiring five engineers |
arrange the chapters of my thesis work over the semester | what are the dependencies between these activities | suggest how to proceed |
plot the course from proof of concept to launch | divide the labour between three developers | what would you do first if you had to replace our crm |
prepare a migration path to the new cloud | outline the project for the board | allocate the next sprint |
what's the smartest way of getting everyone off windows 10 | I have to organize a hackathon for 80 people, where do I start |
help me work out a study timetable | we'd like to open source this. what's involved? | carve the feature into small PRs |
who should do what for the product launch | don't code yet. think about how you'd add offline sync | make a week plan for the onboarding of a new dev |
list everything we need to do until the audit, ordered | give me a high level approach to sharding |
how would you go about searching and replacing the logger in 40 repos, in stages | put together a proposal for phasing out jQuery | I need a battle plan |
what are the building blocks of such a project and how do they depend on each other | set out the stages of the clinical trial | plan a test strategy |
how to get from 100 to 10000 users | what should the team focus on next quarter | sequence these jobs so that nobody waits |
turn the customer's wish list into an agenda for 6 sprints | I need to get my driving licence by autumn, how do I set about it |
our release is chaos, bring some structure into it | what would a migration to kubernetes involve and in which order |
who could take which part of the work | suggest a sequence for the refactoring | think it through before we start | help me prepare the product launch |
give me a week by week program for learning german | what are the critical tasks and what depends on them | distribute the topics among the four of us |
which steps are missing in my concept | how do we best get rid of the legacy database | turn the requirements into user stories |
draw a timeline for the construction | we have 3 months and 2 people. what is realistic | how should the work be organised | build me a roadmap, no code |
don't start coding, first tell me how you would do it | write up what needs to be done for the security audit | how to go from idea to first customer |
a concept for the documentation overhaul with phases please | what has to be ready before we can sign the contract |
make me a schedule for revising all the chapters | in which order should I read these books | set up a project plan for encrypting the backups |
list the tasks for the website relaunch | plan my day | what's the plan for removing the old login page |
how many sprints would that take and what goes in each | let's work backwards from the deadline |
evaluate options and recommend a way forward for the mobile app | split the work of testing among the team | which work packages are there |
prepare a checklist for moving house | get me organised | what are the next steps for the merger | arrange a campaign over six weeks |
how can this be done in small safe steps | develop an approach for cleaning the data, do not touch the data |
I want to write a book, help me structure the work`,
  chronicler: `
I like my coffee black, just so you know | which database did we end up choosing | what were the reasons we gave up on graphql |
save for future reference that deployments happen on mondays | my daughter's name is Mia, don't lose that | what have I been busy with this week |
pick up where we stopped | you once recommended a book to me | drop everything you learned about my old job | what are my preferences for commit messages |
as discussed earlier, what was the limit | please use British spelling whenever you write for me | the last time this happened, how did we solve it |
has this problem come up before | what did you conclude from the previous experiments | write into your diary that the release went badly |
what have you noticed about my habits | when did I first mention the budget | that was a mistake, learn from it for next time |
erase my address from your notes | I'm vegetarian, take it into account in future | what did I ask you on monday |
we switched to pnpm in march, log that decision | bring me up to speed on what was done so far | how did I want the reports formatted |
observe how long the builds take over the next days | what do we know by now about the customer's wishes | who did I say was the contact at acme |
never suggest vim to me again | tell me what we talked about | I changed my mind about what I told you on fonts |
what was the name of that tool you showed me | keep a diary of my decisions | did anything important happen since monday | my team lead is called Jorge |
fyi i'm on windows, so give me powershell commands always | what's my preferred test framework again? | did we ever fix that timezone thing |
note: never deploy on fridays | anything you remember about the acme contract talks? | i want you to learn that "the beast" means our build server |
clear your memory of the last project | what conclusions did we draw from the load test in march | summarise our last three sessions |
remember this file path for next time: /opt/data/raw | what was the command you ran yesterday | you keep forgetting that I use yarn |
what's been decided so far? | put on record that Maria owns the billing service | when did we last talk about hiring |
don't look it up on the web, I told you the address last month | how many times have i asked you this | add to what you know: our cto is Lee |
what was that site I liked so much | over the past weeks, where did I lose most time? | I work from Lisbon, so use that time zone for me |
what did I want to do today | which bug were we chasing last time | you may forget about the old server | tell me again what we said about naming |
did I already tell you about my team | let's continue from yesterday | make a mental note that the api is frozen |
I don't like emojis, please respect that in all answers | what are the things you have learned about this customer | who was the person we met in march |
save this insight: users never read the tooltip | what happened in the last sprint | please never use semicolons in my code again |
what did you do in the previous session | do you recall the trick with the proxy | which decisions are still open | when was the last time we deployed |
add to the log: Ben joined the team today | that fact is outdated, take it out of your memory | how did my opinion on rust change |
I usually work late, plan accordingly in future | we tried redis before, what came of it | my email signature should always be short, note that |
what is my usual editor | reflect on the last week and tell me what to improve | how did we fix the certificate problem back then |
the file I mentioned this morning, what was its name | what website did I recommend to you | what plan did we make for the summer |
keep what I said about the budget in your head | are there any recurring mistakes that I make | what was the outcome of our discussion on licences |
list everything you remember | is there something I asked you to do later | don't run it, just remember the command | our standup is at 9:15, memorise it |
that's how I want it from here on | what have we achieved this month | the customer is called Nordwind and hates phone calls`,
  none: `
hello there | what is recursion | you are awesome | why is the sky blue | give me a synonym for happy | how many legs has a spider |
what time is it in tokyo when it is noon in london | recommend a good science fiction novel | see you tomorrow | yes please | no, that's all |
what would you name a cat | explain photosynthesis to a child | is python better than java | what is the square root of 144 |
convert 10 miles to kilometers | how do I say thank you in japanese | write a birthday wish for my aunt | who was the first president of the united states |
I'm bored | do you dream | which is heavier, a kilo of feathers or a kilo of lead | what does idempotent mean | tell me something interesting |
how does a hash table work | what are the advantages of functional programming | are you a robot | I had a bad day | what's your favourite color |
when was the french revolution | that's wrong | continue | why is unit testing important | what should I cook tonight | compose a limerick about cats |
hey there, how's it going | what's the boiling point of water | thx! | explain the CAP theorem | who wrote Hamlet | what is 15% of 80 |
you're wrong about that | give me three names for a hamster | how do vaccines work | is it rude to not tip in the US? | what is a password manager |
why are tests useful | what do you think about planning poker | sing me something | good night | are cats smarter than dogs? | help |
what's the difference between encryption and hashing | I don't know | write me a short love letter | hey | what's up | cheers mate |
how many continents are there | tell me about the roman empire | what is the meaning of the word ubiquitous | 12 + 30 - 4 | who are you and what can you do |
can you speak spanish | is light faster than sound | how does encryption work in general | what is a browser | what makes a good plan |
why do we forget things | what does a librarian do | give me advice on dealing with stress | write a short poem on memory | what is better, tabs or spaces |
how do I become a better programmer | what is the difference between git merge and rebase | hmm | wow | sorry, my mistake | no thanks | please stop |
that is not what I meant | I agree | do you know any good jokes | what's the plural of octopus | how are rainbows formed |
should one trust password managers | what is docker used for | what are design patterns | which language should a beginner learn |
when did world war two end | rephrase this sentence more politely: give me that | suggest a title for a talk about bees | how do you pronounce gif |
what is love | compare socialism and capitalism`,
}
