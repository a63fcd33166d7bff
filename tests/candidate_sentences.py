"""Sentences of dialogues in some languages: what of them is worth a draft, and what is not."""

from __future__ import annotations

# (who says it, the kind of draft, the sentences, one a line)
KEEP = [
    (
        "user",
        "remember",
        """
Remember that my sister Carla is allergic to peanuts.
Please remember: the spare key hangs behind the boiler.
Can you remember that I always want invoices in euros?
Hey, remember I prefer window seats on trains.
Could you please keep in mind that our office closes at 4 on Fridays.
For future reference, the staging server is called heron.
Don't forget that Tom's birthday is on June 4th.
Make a note that the landlord's new number is in the blue folder.
Note that we use pnpm, not npm, in this repository.
Just so you know, I am vegetarian, so please remember that.
Store this in memory: the alarm is serviced every October.
Save this for later: the Hetzner box runs Debian 12.
Add to your memory that my boss's name is Priya.
I want you to remember that I work from home on Tuesdays.
Keep this in mind: the API only accepts 20 requests a minute.
Write that down: the boiler pressure should be 1.5 bar.
Please memorize that my dog is called Biscuit.
Remember for next time that the printer needs the legacy driver.
You should remember that I don't eat fish.
Never forget: production deploys happen only on Mondays.
Please note my new address: 12 Mill Lane, Norwich.
Commit this to memory: the wifi for guests is named Lighthouse.
Take note: the recycling goes out on alternate Thursdays.
It's worth remembering that the vendor bills in advance.
Please always call me Alex instead of Alexander.
Let the record show that the deposit was paid by Jonas.
Remember this: Kim handles payroll and Dana handles hiring.
remember the garage code changed, it's the cat's birthday now
Merk dir bitte, dass ich keine Laktose vertrage.
Merke dir: der Ersatzschlüssel liegt beim Nachbarn.
Bitte merken: die Heizung wird jeden Oktober gewartet.
Denk dran, dass Lena donnerstags nie kann.
Vergiss nicht, dass der Server am Wochenende neu startet.
Kannst du dir merken, dass ich lieber geduzt werde?
Notiere dir, dass das WLAN im Keller nicht reicht.
Notier bitte, dass mein neuer Chef Herr Wagner heißt.
Behalte im Hinterkopf, dass das Budget bei 5000 Euro liegt.
Für die Zukunft: Rechnungen immer als PDF schicken.
Schreib dir auf, dass die Garage am Montag gestrichen wird.
Zur Info für später: der Vermieter heißt Brandt.
Wichtig zu wissen: unsere Katze bekommt zweimal am Tag Insulin.
Speichere bitte ab, dass meine Schuhgröße 43 ist.
Halte fest, dass der Zaun vom Nachbarn bezahlt wird.
Bitte vergiss nicht: Oma nimmt keine Anrufe nach 20 Uhr an.
Souviens-toi que je suis allergique aux noix.
N'oublie pas que la réunion est toujours le lundi.
Note que mon numéro de client est dans le classeur bleu.
Retiens que ma fille s'appelle Élodie.
Recuerda que soy alérgico a los mariscos.
No olvides que mi jefa se llama Lucía.
Ten en cuenta que trabajo desde casa los martes.
Anota que el coche está aparcado en la calle Mayor.
记住我对花生过敏。
请记住,我们的服务器叫白鹭。
别忘了我妈妈的生日是六月四日。
帮我记一下,车停在地下二层。
Quick thing: remember that the alarm code is only for the side door.
please remember my wife is coeliac
Hermes, remember we never schedule calls before ten.
Could you note that the Oslo office moved to the fourth floor?
Do keep in mind that our budget is frozen until June.
Remember, the goat feed comes on Fridays.
Oh and don't forget my brother can't climb stairs.
For later: the tax adviser is called Brenner.
Remember the following: staging uses port 9443.
I need you to remember that Ola only reads plain text mail.
Store in your memory that we rent from Larsen & Co.
Add this to your notes: the spare tyre is in the shed.
Merk dir mal bitte: ich vertrage kein Gluten.
Du musst dir merken, dass der Kunde nur Fax benutzt.
Nicht vergessen: die Wasseruhr wird im Mai abgelesen.
Bitte merk dir, wir duzen alle Kunden.
Denk bitte daran, dass Jana montags frei hat.
Schreib dir bitte auf, dass der Vertrag bei Elke liegt.
Hinweis für später: der Code der Garage steht im Ordner.
Bitte behalte im Kopf, dass wir nur zwei Parkplätze haben.
Rappelle-toi que le portail se ferme à 22 heures.
Por favor, recuerda que la tienda cierra los lunes.
记得我们的例会改到周四了。
Please remember that I'm on holiday every first week of July.
I'd like you to remember the name of my physiotherapist: Ines Maurer.
Don't forget, we have two cats and no dog.
Please keep in mind I can't open Word documents.
Note: our standing desk order number starts with ZK.
Just remember that the attic ladder is broken.
Make sure to remember that Hanna is the legal owner of the flat.
Jot down that the plumber wants cash.
Let me tell you something to remember: we vote by mail.
Merk dir für die Zukunft: Rezepte immer für vier Personen.
Vergiss bitte nicht, dass unser Hund taub ist.
Notiere: die Heizungsfirma heißt Kranz.
Ich möchte, dass du dir merkst, dass ich Linkshänder bin.
Mach dir eine Notiz, dass der Schornsteinfeger im April kommt.
Gut zu wissen: der Hausmeister hat freitags frei.
N'oublie pas que nous n'avons pas de voiture.
Acuérdate de que mi hijo es zurdo.
请你记住我只吃素。
""",
    ),
    (
        "user",
        "decision",
        """
From now on, always answer me in British English.
Going forward, use metric units when you give me recipes.
We decided to move the blog to Hugo.
I've decided to sell the old Volvo.
Let's go with PostgreSQL for the new service.
OK, we'll go with the green tiles in the bathroom.
Decision: no more weekly status meetings.
We have agreed to rent the hall from the church.
We settled on Porto for the autumn trip.
Final decision, the kitchen gets oak worktops.
We're going to use Terraform for all infrastructure.
I chose the 14 inch model over the 16 inch one.
The team agreed that code reviews need two approvals.
We're dropping support for Python 3.9.
I made up my mind: we cancel the gym membership.
We ended up choosing the cheaper insurance from Allianz.
Let's stick with the monthly newsletter.
We won't renew the contract with Acme.
It was decided that Maria leads the migration project.
We opted for the solar panels without a battery.
We picked Nadia as the new treasurer.
Ab jetzt bitte immer auf Deutsch antworten.
In Zukunft bitte alle Preise in Franken angeben.
Wir haben entschieden, den Verein umzubenennen.
Wir haben uns für die Wärmepumpe entschieden.
Entscheidung: Wir bleiben bei GitLab.
Wir nehmen das Angebot von der Firma Keller.
Ich habe beschlossen, ab Herbst in Teilzeit zu arbeiten.
Wir machen das jetzt mit SQLite statt mit Postgres.
Wir haben uns darauf geeinigt, dass Paul die Kasse führt.
Der Vorstand hat beschlossen, den Beitrag auf 60 Euro zu erhöhen.
Beschlossen: das Sommerfest findet im Garten statt.
Es bleibt dabei, wir verkaufen das Boot.
Wir verzichten auf den Wintergarten.
Nous avons décidé de déménager à Lyon.
On a choisi l'offre de la société Martin.
Hemos decidido vender la casa del pueblo.
Decidimos usar PostgreSQL para el nuevo servicio.
我们决定把博客搬到 Hugo。
We've decided on the larger van.
Good news, the board has decided to fund the roof.
I have decided not to apply for the grant.
Let's go with the Danish supplier for the windows.
We're switching to Fastmail for all accounts.
We agreed to split the costs evenly.
Going forward we publish on Tuesdays.
We'll stick with the old logo.
I'm going with the blue paint for the hallway.
As a team we chose Kotlin over Java.
Wir haben uns auf den 12. Mai geeinigt.
Ich habe mich gegen das Angebot entschieden.
Wir haben gestern abgemacht, dass Timo den Schlüssel behält.
Die Familie hat entschieden, Weihnachten in Riga zu feiern.
Künftig schicken wir Rechnungen nur noch per Mail.
Wir bleiben beim alten Logo.
Nous avons choisi le modèle sans batterie.
Hemos acordado pagar a medias.
我们最后决定不搬家了。
We decided against the loan.
I decided to keep the piano.
The committee has decided that fees stay the same.
Okay, we will go with the linden tree for the yard.
We've settled on Anna as chair.
Decision: we publish under CC BY.
So we agreed to meet every other Monday.
It's decided: the shop closes in August.
Ich hab mich entschieden, den Kurs abzubrechen.
Wir haben beschlossen, dass Tiere willkommen sind.
Fest steht: wir kaufen kein zweites Auto.
Ab sofort gehen alle Bestellungen über Nora.
Dann nehmen wir die Fähre ab Kiel statt der Brücke.
J'ai décidé de garder l'appartement.
Decidimos no renovar el contrato.
""",
    ),
    (
        "assistant",
        "decision",
        """
Agreed, then: we decided to keep the monorepo and split the CI jobs.
So the decision is to postpone the launch until the audit is done.
""",
    ),
    (
        "user",
        "fact",
        """
Our lease ends on 31 March 2027.
The boiler was replaced on 2026-11-03.
The heating has been serviced on 12 October 2026.
We replaced the filter on 2026-05-01.
They delivered the sofa on 2 March 2026.
The cat was vaccinated on 5 May 2026.
Der Boiler wurde am 3. November 2026 ausgetauscht.
La chaudière a été remplacée le 3 novembre 2026.
My passport expires in May 2029.
My appointment with Dr. Okafor is on 3 February at 9:30.
We moved into this house in 2014.
I started at Siemens on 1 September 2021.
My daughter was born on 12 July 2019.
Our car is due for inspection in November 2026.
The warranty for my dishwasher runs out on 2027-08-01.
Our wedding anniversary is the 9th of August.
I had knee surgery on 14 March 2023.
My mother's birthday is March 3rd.
Our flight to Lisbon leaves on October 12 at 6:45.
The tax return for our company is due on 31 July.
Mein Reisepass läuft im Mai 2029 ab.
Unser Mietvertrag endet am 31. März 2027.
Ich habe am 3. Februar einen Termin bei Dr. Sommer.
Meine Tochter ist am 12.07.2019 geboren.
Wir sind 2014 in dieses Haus gezogen.
Mein Vater hat am 4. Juni Geburtstag.
Seit dem 1. September 2021 arbeite ich bei Siemens.
Unser Auto muss im November 2026 zum TÜV.
Mon bail se termine le 31 mars 2027.
Mi pasaporte caduca en mayo de 2029.
我的护照2029年5月到期。
My driving licence expires on 2 February 2030.
Our son starts school on August 18, 2026.
I've worked at Nokia since 2011.
Grandpa's birthday is on the 5th of November.
We have an appointment with the notary on 4 June at 11.
The contract with Telia ends on 30.09.2027.
Unsere Hochzeit war am 8. August 2015.
Ich habe den Führerschein im März 2009 gemacht.
Der Vertrag mit der Telekom läuft bis 30.09.2027.
Wir haben am 4. Juni einen Termin beim Notar.
Meine Schwester ist am 3. Mai 1990 geboren.
The car insurance runs until 31 December 2026.
My grandmother was born on 2 January 1938.
We got married on June 5, 2010.
Our dog's vaccination is due on 11 March 2027.
My contract started in January 2025.
Mein Personalausweis ist gültig bis 05.06.2031.
Der TÜV ist im August 2027 fällig.
Wir haben am 5. Juni 2010 geheiratet.
Die Garantie der Waschmaschine endet am 1.2.2028.
Ma carte d'identité expire le 4 mai 2030.
""",
    ),
    (
        "user",
        "correction",
        """
No, the meeting is on Wednesday, not on Tuesday.
Actually, my name is spelled Katharina with a K.
That's wrong, the server runs on port 8443, not 8080.
Correction: the budget is 40,000, not 14,000.
No, my brother lives in Graz, not in Vienna.
Sorry, I misspoke: the deadline is the 20th, not the 12th.
Nein, das Treffen ist am Mittwoch, nicht am Dienstag.
Falsch, mein Bruder wohnt in Graz und nicht in Wien.
Korrektur: Das Budget beträgt 40.000 Euro.
No, my sister's name is Liisa, not Lisa.
Sorry, the flight is on Friday, not Thursday.
Actually, our office is in Turku now.
Nein, meine Schwester heißt Liisa, nicht Lisa.
Quatsch, der Termin ist am Freitag, nicht am Donnerstag.
Stimmt nicht, der Laden gehört meinem Onkel und nicht meinem Vater.
No, the wedding is in Bergen, not in Oslo.
That's not right, my wife works at the university, not at the hospital.
Actually the code is 4471, not 4417.
Nein, die Hochzeit ist in Bergen und nicht in Oslo.
Das stimmt nicht, meine Frau arbeitet an der Uni, nicht im Krankenhaus.
""",
    ),
]
LEAVE = [
    (
        "user",
        """
Do you remember when we talked about the blog?
What do you remember about my trip to Porto?
I don't remember the password.
Remember me?
I can't remember that guy's name.
How should we decide between Hugo and Jekyll?
We haven't decided yet.
Should we go with PostgreSQL?
If we decide to move, we'll need a van.
Let's see what the logs say.
Let's go!
Let's go with that.
Write a summary of the meeting on 3 March 2026.
What happened on 14 July 1789?
The French Revolution began in 1789.
Translate: 'Remember that the door is locked.'
Please fix the bug in the date parser, it fails for 2026-02-30.
Thanks, that worked.
No, that's not what I meant.
No, try again.
I forgot to tell you about the weather.
Can you remind me how to rebase?
She said: "remember that I love you".
Run the tests again and show me the failures.
Why did they decide to deprecate it?
I'm not sure whether we decided on the green tiles.
Maybe we could go with oak.
Make a table with the sales of 2024 and 2025.
Is the 4th of June a Thursday?
Find me a flight to Lisbon on October 12.
Remember to run the tests before you commit.
Let's start with the first chapter.
Let's use the first option.
Wie war das nochmal mit dem Passwort?
Erinnerst du dich an das Treffen im März?
Wir haben noch nichts entschieden.
Sollen wir die Wärmepumpe nehmen?
Wenn wir uns entschieden haben, sage ich Bescheid.
Ich weiß nicht, ob wir das machen.
Schreib eine E-Mail an Herrn Wagner zum Termin am 3. Februar.
Was ist am 9. November 1989 passiert?
Nein, das stimmt nicht.
Nein, nicht so.
Danke, das passt so.
Kannst du mir den Text bis Freitag übersetzen?
Ich kann mir das nie merken.
Das ist bemerkenswert.
Tu te souviens de la réunion ?
¿Recuerdas lo que dije ayer?
你还记得我们昨天说的吗?
我们还没有决定。
Note: this endpoint is deprecated, is that a problem?
Note my use of the word 'frugal' here, is it right?
Call me when you are done.
Call me Monday.
We're going to use the first column for the labels.
We're moving to the next question.
We are switching to the second part of the exercise now.
We'll use this function for all the tests, right?
We'll keep the variable for now.
We won't need the second parameter.
I picked a random number over 10.
I chose the wrong file instead of the right one.
We ended up using too much memory.
So you know, it crashed again.
It's important to know that I tried this already.
We're replacing the placeholder text, right?
I have to finish the report by May 4 2026, can you help?
My code has a bug since March 2025.
Our function has a date parser that fails on 2026-02-30.
My test must return 2024-01-01 for this input.
I got an error on 2026-03-01 when I opened the file.
Ich brauche bis 3. März 2026 einen Text über Bienen.
Ich suche einen Termin am 4. Juni.
Wir machen erst die Tests statt der Doku.
Wir nehmen die andere Version.
Wir verzichten darauf.
Nenne mich nicht so.
Nenne mir drei Beispiele.
Für später: was steht noch an?
Speichere die Datei, dann starte neu.
No, my question was about the second file.
Actually, my code is in the other folder.
Eigentlich ist mir das egal.
Nein, mein Problem ist ein anderes.
My hovercraft is full of eels.
Did we get the visa on 3 May 2024?
Let's go with a for loop instead.
Let's use tabs here.
Save this for me as report.txt.
Keep this in the same style.
Kannst du dir vorstellen, dass er das vergessen hat?
Ich habe vergessen, wann unser Termin war.
Er hat am 3. Mai 2024 angerufen, was soll ich antworten?
In 2024 we had 3 million visitors, make a chart of it.
Mon fichier est vide depuis le 3 mai 2024.
Quand se termine le bail ?
记得吗?
Remember the last file? Open it again.
Do you know when the lease ends?
I want to decide by Friday.
We still need to decide on the tree.
They decided to close the shop.
Please decide for me.
Is it decided already?
We may go with the linden tree.
Note the difference between the two.
Don't forget the semicolon.
Make a list of all countries that joined the EU in 2004.
My birthday wish list needs ideas.
Who was born on 2 January 1938?
Actually, never mind.
Actually that is perfect, thanks.
No, the other way round.
My head hurts today.
Give me a poem about our wedding on June 5.
Wann endet die Garantie?
Merkst du, dass das nicht geht?
Schreib auf Englisch, bitte.
Halt fest!
Wir müssen uns noch entscheiden.
Hast du dich entschieden?
Vergiss es.
Nein, das ist zu lang.
Wir nehmen Variante B.
Ich habe am Montag keine Zeit.
Erstelle einen Plan bis zum 5. Juni 2026.
On verra demain.
No olvides la coma.
""",
    ),
    (
        "assistant",
        """
I'll remember that you like window seats.
Remember that Python lists are mutable, so copy them first.
The Treaty of Westphalia was signed on 24 October 1648.
Let's go with a simple example first.
I decided to use a regular expression for parsing.
We could use PostgreSQL here.
Have you decided which tiles to take?
From now on I will answer in British English.
Your lease ends on 31 March 2027.
Here is what I found: the file was changed on 2026-01-03.
I've decided to structure the answer in three parts.
We're going to use a dictionary for all lookups.
We'll use a regex instead of a parser.
I decided to skip the failing test.
I chose SQLite over Postgres for this example.
Note my answer is based on the docs.
We agreed on nothing so far, let me know.
Remember, your lease ends on 31 March 2027.
I have decided to rewrite the module.
We can agree that this is hard.
Let's go with SQLite for now.
Note that we use pnpm here.
My knowledge ends in January 2025.
""",
    ),
]
